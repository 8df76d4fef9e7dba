"""What was measured: operators, machines, iterations, training runs.

`readers` what benchmarks print; `operators` what each computes and moves, times taken
here, formulas fitted to them; `machines` a hardware file from measurements; `iterations`
ones never run, composed from operator models; `runs` training runs that somebody
published or measured, and cluster classes fitted to them.
"""
