"""Commands in processes with bounds of memory and time."""

import resource

from commands import Done


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
    resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))


def ended_well(done: Done) -> None:
    if done.code == 0:
        assert done.out
        assert not done.err
        return
    assert done.code in (1, 2)
    assert not done.out
    assert done.err.startswith("symscale: ")
    assert done.err.endswith("\n")
    assert done.err[:-1].isprintable()
