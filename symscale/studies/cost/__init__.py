"""What a Transformer costs under a plan."""
