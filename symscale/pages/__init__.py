"""What people see: formulas, documents, and the formats they print in.

`formulas` one formula as text, LaTeX or MathML; `formats` documents and what prints them;
`of` what each command prints, by its name; `figures` plots; `notebook` values shown in
notebooks; `assets` styles and scripts of pages.
"""
