"""The version, in one place: of the package, and of what wrote a file."""

__version__ = "0.2.0"
