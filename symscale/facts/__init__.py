"""Facts as data, each with its source: machines and models."""
