"""Operator models: measured once, fitted, and composed into iterations never run.

`operators` what each operator computes and moves; `measurement` one measured time;
`fitting` a formula for the times of an operator, with its errors; `files` and the
readers below it what benchmarks print; `calibration` a hardware file from measurements;
`profiling` measures the machine at hand; `regions` and `projection` an iteration from
operator models.
"""
