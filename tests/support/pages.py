"""Pages, parsed as browsers do."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input", "mspace", "wbr"}

NASTY = (
    "<script>alert(1)</script>", "</script>", "</style>", "<!--", "]]>", '"><img src=x onerror=x>',
    "'onload='x", "&amp; & &#60;", "a\u2028b\u2029c", "$x_1$ % \\input{/etc/passwd}",
    "é 漢字 \U0001f600",
)


class Tree(HTMLParser):
    """Checks that elements close, and collects them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)


def parsed(page: str) -> Tree:
    tree = Tree()
    tree.feed(page)
    tree.close()
    assert tree.open == []
    return tree
