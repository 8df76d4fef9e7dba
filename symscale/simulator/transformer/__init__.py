"""Plans of Transformers on clusters: the work of a step, its time, the search."""
