"""Run the command line: `python -m symscale`."""

from symscale.cli import main

if __name__ == "__main__":
    main()
