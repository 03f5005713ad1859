"""Results of a grid: tables, the report of its claims, estimates, and numbers as they are printed."""
