"""What must be believed when a certificate holds: the claims and the checkers of them."""
