"""The front door: each question that symscale answers, as a function.

`import symscale as ss` offers these by name. Texts and numbers are read as the command line
reads them, and a wrong one raises the same error. What comes back is an `Answer`: it prints
short, shows itself in a notebook, and has `to_dict()`, `latex()`, `save(path)`, and where they
make sense `value`, `expr`, `pieces`, `plot(path)`, `code(language)` and `certificates()`.
"""
