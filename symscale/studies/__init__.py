"""Studies: a model on a machine, as named constraints. Here costs and algebra meet.

A folder a study: `training` the largest run and its utilization, `comp_vs_comm` edge,
slack and share, `cost` what a Transformer costs, `mesh` splits over a mesh; `requests`
what users ask for, `explorers` the pages with sliders.
"""
