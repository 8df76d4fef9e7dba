"""Data and tensor parallelism on a mesh of devices."""
