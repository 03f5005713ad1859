"""What a grid left: tables, the report of its claims, estimates, numbers as they are printed."""
