"""The command line; the only place that knows Typer."""


def main() -> None:
    """Run the `symscale` command."""
    from symscale.cli.app import app

    app()
