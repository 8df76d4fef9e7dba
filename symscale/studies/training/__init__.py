"""The largest training run and its utilization, in closed form."""
