"""Formulas as text, LaTeX and MathML, and how long ones break."""
