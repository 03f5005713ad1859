"""Carrying out runs: grids, processes, clusters, budgets, and predictions of what they take."""
