"""Computation against communication: edge, slack, share, and how each grows."""
