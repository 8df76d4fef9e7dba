"""A table that grows row by row in FILE.part, and is taken up again after an interruption.

Its first line says which run it belongs to.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from symscale.errors import InputError

_MARK = "# "
_Result = TypeVar("_Result")


class PartFile:
    """The rows of an unfinished table.

    Attributes:
        path: The file.
        text: What it held when it was opened, without its first line; "" if it is new.
    """

    def __init__(self, target: Path, run: str, option: str = "--csv") -> None:
        self.path = target.with_name(target.name + ".part")
        self._option, self._head = option, _MARK + run + "\n"
        self.text = ""
        if self._try(self.path.exists):
            held: str = self._try(lambda: self.path.read_text(encoding="utf-8"))
            if held and not held.startswith(self._head):
                raise InputError(
                    f"{option} {target}: {self.path} belongs to another run; "
                    "remove it, or name another file"
                )
            # A line that was cut off by the interruption does not count.
            self.text = held[len(self._head) : held.rfind("\n") + 1]

    def start(self, header: str) -> None:
        """Write what was held, or the names of the columns where nothing was."""
        self._try(lambda: self.path.parent.mkdir(parents=True, exist_ok=True))
        self._try(
            lambda: self.path.write_text(self._head + (self.text or header), encoding="utf-8")
        )

    def add(self, rows: str) -> None:
        """Add rows."""

        def write() -> None:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(rows)

        self._try(write)

    def remove(self) -> None:
        """Remove the file, once its table is complete."""
        self._try(lambda: self.path.unlink(missing_ok=True))

    def _try(self, act: Callable[[], _Result]) -> _Result:
        try:
            return act()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{self._option} {self.path}: {reason}; name another file") from error

