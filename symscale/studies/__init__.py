"""Studies: a model on a machine, as named constraints. Here costs and algebra meet.

The built-in studies: `training` the constraints of a training run, `limits` its
largest compute, `cliffs` its utilization, `parameters` values with unit and source,
`answer` questions with answers, `ratios` costs by name, `asymptotics` how they grow,
`numbers` formulas evaluated on machines.

Problems of one's own: `problem` what one is, `problem_file` reads one from TOML,
`vocabulary` built-in names for it, `unit_check` units of expressions,
`problem_answer` solves it, `witnesses` and `proofs` its certificates,
`certificate_file` their files, `sweep` which piece rules where.
"""
