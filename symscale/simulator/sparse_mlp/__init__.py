"""Plans of the sparse MLP on clusters: a step, its search, scaling curves."""
