"""Old spellings of commands, which are read for one version."""

_SPARSE = "sparse-mlp"


def renamed(args: list[str]) -> tuple[list[str], str]:
    """Return arguments in today's spelling, and a line on what was old, if anything.

    Example:
        >>> renamed(["plan", "--model=sparse-mlp", "--d-model", "12288"])
        (['plan-mlp', '--d-model', '12288'], 'plan of a sparse MLP is plan-mlp now')
    """
    command, *rest = args
    options = [part.partition("=")[0] for part in rest]
    at = options.index("--model") if "--model" in options else None
    if at is not None:
        whole = "=" in rest[at]
        model = rest[at].partition("=")[2] if whole else "".join(rest[at + 1 : at + 2])
        rest = rest[:at] + rest[at + 1 + (not whole) :]
    old = "--d-model" in options if at is None else model == _SPARSE
    if command != "plan" or not old:
        return args, ""
    return ["plan-mlp", *rest], "plan of a sparse MLP is plan-mlp now"
