"""What is said: units, the notation, sources, and how text from users is read."""
