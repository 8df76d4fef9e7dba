"""Step times against measured runs: cluster classes, published runs, and what comes out."""
