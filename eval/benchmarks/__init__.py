"""Benchmarks: each a script that measures Confer beside a baseline in the same run."""
