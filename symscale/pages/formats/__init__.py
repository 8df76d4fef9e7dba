"""Documents, and the formats they print in."""
