"""Programs and modules that only some tests need."""

import importlib.util
import os

import pytest


def need_module(name: str) -> None:
    """Skip the test where a module is not installed; fail where `CI` is set."""
    if importlib.util.find_spec(name) is None:
        reason = f"{name} is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
