"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from symscale.errors import InputError


def file_path(path: object, option: str) -> Path:
    """Return the path that a caller names.

    Raises:
        InputError: If it is no path.
    """
    if isinstance(path, str | Path):
        return Path(path)
    raise InputError(f"{option}: the path of a file is a text, not {type(path).__name__}")


def check_writable(path: Path, force: bool, option: str = "-o") -> None:
    """Refuse a path that is no ordinary file, or an existing file without --force.

    Raises:
        InputError: If the path cannot be used.
    """
    try:
        if path.is_dir():
            raise InputError(f"{option} {path}: it is a folder; name a file in it")
        if path.exists() and not path.is_file():
            raise InputError(f"{option} {path}: it is a device, not a file; name a file")
        if path.exists() and not force:
            remedy = "--force" if option.startswith("-") else "force=True"
            raise InputError(f"{option} {path}: the file exists; use {remedy} to replace it")
        above = next(folder for folder in (path.absolute()).parents if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            raise InputError(f"{option} {path}: {above} takes no files; name another folder")
    except OSError as error:
        raise _unusable(path, error, option) from error


def write_whole(path: Path, text: str, option: str = "-o") -> None:
    """Write a text file completely or not at all.

    Raises:
        InputError: If the file cannot be written.
    """
    write_by(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), option)


def write_by(path: Path, write: Callable[[Path], object], option: str = "-o") -> None:
    """Let `write` make a temporary file beside `path`, then rename it.

    A link stays, and a file that is replaced keeps its permissions. Missing folders are
    made, and removed again if the file cannot be written.

    Raises:
        InputError: If the file cannot be written.
    """
    made: list[Path] = []
    try:
        target = Path(os.path.realpath(path))
        made = [folder for folder in target.parents if not folder.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name[:50]}.", suffix=target.suffix[:10]
        )
        os.close(handle)
        try:
            write(Path(name))
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except BaseException as error:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError | ValueError):
            raise _unusable(path, error, option) from error
        raise


def _unusable(path: Path, error: Exception, option: str) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"{option} {path}: {reason}; name another file")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
