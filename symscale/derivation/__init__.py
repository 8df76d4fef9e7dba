"""Derivations: their steps, the checks of these, and the worked ones that ship."""
