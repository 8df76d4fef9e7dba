"""Machines: presets, what reads them, and what their figures give together."""
