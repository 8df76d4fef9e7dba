"""What a user asks for: models, plans, parameters and their values, checked as a whole."""
