"""The model of the data-movement study, and its plans."""
