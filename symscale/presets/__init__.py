"""Facts as data: machines, models and their sources, and what reads them."""
