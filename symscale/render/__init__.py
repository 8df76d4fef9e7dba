"""What people see: formulas, documents, and the formats they print in.

`formula` one formula as text or LaTeX; `document` headings, paragraphs, equations
and tables; `text`, `markdown`, `latex` print a document; `data` makes JSON; `code`
turns closed forms into functions of other languages; `html` prints a page and
`explorer` one with sliders, whose styles and scripts lie in `assets`.
"""
