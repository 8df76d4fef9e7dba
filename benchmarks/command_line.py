"""CPU time of commands, against the bare import of SymPy in the same run."""

import os
import subprocess
import sys

COMMANDS = {
    "import sympy": ["-c", "import sympy"],
    "symscale --help": ["-m", "symscale", "--help"],
    "symscale limits --hardware h100-sxm": ["-m", "symscale", "limits", "--hardware", "h100-sxm"],
    "symscale limits": ["-m", "symscale", "limits"],
    "symscale cliffs --hardware h100-sxm": ["-m", "symscale", "cliffs", "--hardware", "h100-sxm"],
    "symscale limits --full --hardware h100-sxm": [
        "-m", "symscale", "limits", "--full", "--hardware", "h100-sxm",
    ],
    "symscale derive training-limits": ["-m", "symscale", "derive", "training-limits"],
}
ROUNDS = 5


def cpu_seconds(arguments: list[str]) -> float:
    """User and system time of a Python process."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def main() -> None:
    """Print the median of each command, and its ratio to the import."""
    medians = {
        name: sorted(cpu_seconds(arguments) for _ in range(ROUNDS))[ROUNDS // 2]
        for name, arguments in COMMANDS.items()
    }
    reference = medians["import sympy"]
    print(f"{'command':<46}{'CPU s':>8}{'ratio':>8}")
    for name, seconds in medians.items():
        print(f"{name:<46}{seconds:>8.2f}{seconds / reference:>8.2f}")


if __name__ == "__main__":
    main()
