"""Experiments: their definitions, plans, keys and parts."""
