"""Studies: a model on a machine, as named constraints. Here costs and algebra meet.

`parameters` values with unit and source; `settings` what a user sets;
`training` the constraints of a training run; `limits` its largest compute;
`cliffs` its utilization.
"""
