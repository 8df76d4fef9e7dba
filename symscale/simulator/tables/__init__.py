"""Curves and plans as tables of the columns that the published program writes."""
