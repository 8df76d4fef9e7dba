"""Formulas in JSON, read back and evaluated."""

import ast
from collections.abc import Mapping
from decimal import Context, Decimal, localcontext

Values = Mapping[str, Decimal]


def power(base: Decimal, exponent: Decimal) -> Decimal:
    return base**exponent

BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: power,
}

CALLS = {
    "sqrt": lambda x: x.sqrt(),
    "Min": lambda *x: min(x),
    "Max": lambda *x: max(x),
}


def walk(node: ast.expr, values: Values) -> Decimal:
    match node:
        case ast.Constant(value=int() as number):
            return Decimal(number)
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -walk(operand, values)
        case ast.BinOp(left=left, op=op, right=right):
            return BINARY[type(op)](walk(left, values), walk(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return CALLS[name](*(walk(part, values) for part in arguments))
    raise AssertionError(f"not expected in a formula: {ast.dump(node)}")


def evaluated(text: str, values: Values) -> Decimal:
    """The value of a formula."""
    with localcontext(Context(prec=60, Emax=10**9, Emin=-(10**9))):
        return walk(ast.parse(text, mode="eval").body, values)


def sides(text: str) -> tuple[str, str, str]:
    """Left side, relation and right side of a relation: `a <= b`, or `Eq(a, b)`."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        assert node.func.id == "Eq"
        left, right = node.args
        return ast.unparse(left), "==", ast.unparse(right)
    assert isinstance(node, ast.Compare)
    assert isinstance(node.ops[0], ast.LtE)
    return ast.unparse(node.left), "<=", ast.unparse(node.comparators[0])


def ratio(text: str, values: Values) -> Decimal:
    """Left over right side of a relation."""
    left, _, right = sides(text)
    with localcontext(Context(prec=60, Emax=10**9, Emin=-(10**9))):
        return evaluated(left, values) / evaluated(right, values)
