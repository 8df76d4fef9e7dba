"""A hardware file from measurements."""
