"""Training runs that somebody measured, and cluster classes fitted to them."""
