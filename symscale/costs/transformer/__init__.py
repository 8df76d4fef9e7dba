"""Transformers under a parallel plan: FLOP, parameters, memory, communication."""
