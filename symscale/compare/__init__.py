"""Two roads to one number: closed form and simulation, formulas and measured runs."""
