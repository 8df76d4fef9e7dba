"""Relations and objectives as people write them, read as sums of monomials."""
