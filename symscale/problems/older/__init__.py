"""Certificates of versions 1 and 2, written anew as files of version 3 for the kernel.

Nothing here is trusted: what it writes is text, which the kernel judges as if it came
from anybody.
"""
