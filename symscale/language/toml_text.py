"""Facts about machines as the text of a TOML file."""

from symscale.errors import printable


def figure_text(
    key: str, value: float, unit: str, source: str, *, direction: str = "", condition: str = "",
    note: str = "",
) -> str:
    """Return a line that states a figure, its value to four digits.

    Example:
        >>> print(figure_text("latency", 5.25e-6, "s", "measured", note="of one message"))
        latency = { value = "5.25e-06", unit = "s", source = "measured", note = "of one message" }
    """
    parts = [f"value = {_decimal(value)}", f"unit = {quoted(unit)}"]
    said = {"direction": direction, "condition": condition, "source": source, "note": note}
    parts += [f"{name} = {quoted(text)}" for name, text in said.items() if text]
    return f"{key} = {{ {', '.join(parts)} }}"


def _decimal(value: float) -> str:
    """A number to four digits, as TOML writes it."""
    text = f"{value:.4g}"
    return text if "e" not in text else f'"{text}"'


def quoted(text: str) -> str:
    r"""Return a text as a basic string of TOML, on one line.

    Example:
        >>> print(quoted('a "b"'))
        "a \"b\""
    """
    plain = printable(text, 300)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
