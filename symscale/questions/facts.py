"""What questions are made of: machines, models, symbols and expressions."""

from typing import TYPE_CHECKING

from symscale.questions.reading import question

if TYPE_CHECKING:
    import sympy as sp

    from symscale.costs.transformer.architecture import Architecture
    from symscale.facts.machines.machine import Machine


@question
def machine(name: str) -> "Machine":
    """A machine: every figure with unit, condition and source.

    Args:
        name: A preset or a TOML file; `symscale hardware` lists the presets.

    Raises:
        InputError: If there is none of that name, or the file cannot be used.

    Example:
        >>> import symscale as ss
        >>> ss.machine("h100-sxm").levels()
        ('device', 'node')
    """
    from symscale.facts.machines.lumped import load_machine

    return load_machine(name)


@question
def model(name: str) -> "Architecture":
    """A Transformer's sizes and kinds of layers.

    Args:
        name: A model, a TOML file or a Hugging Face config.json; `symscale models` lists
            those that ship.

    Raises:
        InputError: If there is none of that name, or the file cannot be used.

    Example:
        >>> import symscale as ss
        >>> ss.model("gpt-3").layers, ss.model("gpt-3").d_model
        (96, 12288)
    """
    from symscale.facts.models.zoo import load_model

    return load_model(name)


@question
def symbols(names: str) -> "tuple[sp.Symbol, ...]":
    """Symbols of the notation, for expressions of one's own.

    Args:
        names: Their names, separated by spaces; `symscale symbols` lists them.

    Raises:
        UnknownNameError: If there is none of a name.

    Example:
        >>> import symscale as ss
        >>> T, N = ss.symbols("T N")
        >>> T / N
        T/N
    """
    from symscale.language.symbols import symbols as named

    return named(names)


@question
def expression(text: str) -> "sp.Expr":
    """Read a formula in symbols of the notation: what JSON calls `sympy`, say.

    Args:
        text: The formula. It is parsed by a whitelist; nothing in it is executed.

    Raises:
        ParseError: If it is no formula, or names what the notation does not have.

    Example:
        >>> import symscale as ss
        >>> ss.expression("27*W_mem**2*b_0**2/(2560*C**4*E)")
        27*W_mem**2*b_0**2/(2560*C**4*E)
    """
    from symscale.language.parsing import parse_expression
    from symscale.language.symbols import NOTATION

    return parse_expression(text, {name: entry.symbol for name, entry in NOTATION.items()})
