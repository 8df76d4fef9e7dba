"""Programs with sums of products of powers: closed forms, bounds, numerical optima."""
