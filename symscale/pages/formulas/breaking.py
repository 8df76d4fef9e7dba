r"""LaTeX of formulas that TeX may break over lines, and how wide formulas are.

TeX breaks a formula in running text at its operators, but not within a fraction nor
between `\left` and `\right`. A formula that is wider than its place is written without.
"""

import re
from functools import cache

MATH = 5.8  # points of a letter, at the size of the text
_OPERATOR = 12.0
_SMALL = 15.0  # points of a fraction that stays one
_SCRIPT = 0.8
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_SPACES = {r"\,": 1.9, r"\;": 3.0, r"\quad": 11.0, r"\ ": 3.6}
_INVISIBLE = {r"\left", r"\right", r"\mathrm", r"\mathit", r"\operatorname", r"\text"}
_NAMED = {r"\min", r"\max", r"\log", r"\exp"}
_RELATIONS = {"=", "<", ">", r"\le", r"\ge", r"\leq", r"\geq", r"\approx"}
_BINARY = {"+", "-", r"\cdot", r"\times"}
_BREAK = r"\penalty800 "  # after + and - (700) sooner than between factors

Node = str | tuple["Node", ...]


def width(tex: str, *, display: bool = True) -> float:
    r"""About how many points a formula takes, displayed or in running text.

    Example:
        >>> width(r"\frac{a b c}{d}") < width("a b c d")
        True
    """
    return _width(_read(tex), 1.0 if display else 0.92)


def text_width(words: str) -> float:
    """About how many points words take.

    Example:
        >>> text_width("ill") < text_width("WWW")
        True
    """
    return sum(
        3.4 if c in " .,:;()[]'il|ftj-" else 7.4 if c.isupper() else 5.45 for c in words
    )


def breakable(tex: str) -> str:
    r"""The same formula, with places where a line may end.

    Example:
        >>> print(breakable(r"\frac{2\, b\, c}{\left( m + 1 \right)\, v}"))
        2\,\penalty800 b\,\penalty800 c / \penalty800 (( m + 1 )\,\penalty800 v)
    """
    if r"\right." in tex or r"\begin" in tex:
        return tex
    return _broken(_read(tex)).strip()


@cache
def _read(tex: str) -> tuple[Node, ...]:
    """The tokens of a formula; what stands in braces is a group."""
    stack: list[list[Node]] = [[]]
    for piece in _TOKEN.findall(tex):
        if piece == "{":
            stack.append([])
        elif piece == "}" and len(stack) > 1:
            group = tuple(stack.pop())
            stack[-1].append(group)
        else:
            stack[-1].append(piece)
    while len(stack) > 1:
        group = tuple(stack.pop())
        stack[-1].append(group)
    return tuple(stack[0])


def _width(nodes: tuple[Node, ...], fraction: float = 1.0) -> float:
    total = 0.0
    position = 0
    while position < len(nodes):
        node = nodes[position]
        position += 1
        if node == r"\frac" and position + 1 < len(nodes):
            widest = max(_of(nodes[position]), _of(nodes[position + 1]))
            total += fraction * widest + 2.4
            position += 2
        elif node in ("_", "^") and position < len(nodes):
            total += _SCRIPT * _of(nodes[position])
            position += 1
        else:
            total += _of(node)
    return total


def _of(node: Node) -> float:
    if isinstance(node, tuple):
        return _width(node)
    if node in _INVISIBLE or node.isspace():
        return 0.0
    if node in _SPACES:
        return _SPACES[node]
    if node in _BINARY or node in _RELATIONS:
        return _OPERATOR
    if node in _NAMED:
        return 20.0
    return 4.3 if node in "()[]" else MATH


def _broken(nodes: tuple[Node, ...]) -> str:
    parts: list[str] = []
    position = 0
    while position < len(nodes):
        node = nodes[position]
        position += 1
        if node == r"\frac" and _wide(nodes, position) and _ends(nodes, position + 2):
            above, below = _group(nodes[position]), _group(nodes[position + 1])
            parts.append(_in_brackets(above, product=True) + " / " + _BREAK)
            parts.append(_in_brackets(below, product=False))
            position += 2
        elif node == r"\frac":
            parts += [r"\frac", *(_as_it_is(n) for n in nodes[position : position + 2])]
            position += 2
        elif node in (r"\left", r"\right"):
            continue
        elif node == r"\,":
            parts.append(r"\," + _BREAK)
        elif isinstance(node, str) and node.isspace():
            apart = " " if _beside_operator(nodes, position - 1) else r"\," + _BREAK
            parts.append("" if parts and parts[-1].endswith(" ") else apart)
        elif isinstance(node, tuple) and node and node[0] == r"\left":  # of a function
            parts.append(_broken(node))
        else:
            parts.append(_as_it_is(node))
    return "".join(parts)


def _wide(nodes: tuple[Node, ...], position: int) -> bool:
    return max(map(_of, nodes[position : position + 2])) > _SMALL


def _group(node: Node) -> tuple[Node, ...]:
    return node if isinstance(node, tuple) else (node,)


def _ends(nodes: tuple[Node, ...], position: int) -> bool:
    """Whether no factor follows, which a slash would take into the denominator."""
    after = [n for n in nodes[position:] if not (isinstance(n, str) and n.isspace())]
    return not after or after[0] in (*_BINARY, *_RELATIONS, r"\right", ")", ",", r"\;")


def _beside_operator(nodes: tuple[Node, ...], position: int) -> bool:
    """Whether a space is no product: it stands at an operator, a bracket or another space."""
    apart = {*_BINARY, *_RELATIONS, *_SPACES, *_NAMED, ",", r"\left", r"\right", "/"}
    before = nodes[position - 1] if position else "+"
    after = nodes[position + 1] if position + 1 < len(nodes) else "+"
    return before in (apart | {"("}) or after in (apart - {r"\left"} | {")"})


def _in_brackets(nodes: tuple[Node, ...], *, product: bool) -> str:
    """A numerator or denominator, in brackets where it needs them beside a slash."""
    depth = 0
    factors, terms = 1, 1
    for i, node in enumerate(nodes):
        depth += (node == "(") - (node == ")")
        if depth == 0 and node in ("+", "-") and i:
            terms += 1
        is_space = isinstance(node, str) and node.isspace()
        if depth == 0 and (node == r"\," or (is_space and not _beside_operator(nodes, i))):
            factors += 1
    inside = _broken(nodes).strip()
    return inside if terms == 1 and (product or factors == 1) else f"({inside})"


def _as_it_is(node: Node) -> str:
    if isinstance(node, str):
        return node
    return "{" + "".join(_as_it_is(n) for n in node) + "}"
