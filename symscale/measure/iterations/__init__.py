"""Iterations never run, composed from operators that were measured."""
