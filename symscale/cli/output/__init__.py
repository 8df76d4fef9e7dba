"""Where answers go: to standard output, or whole into a file."""
