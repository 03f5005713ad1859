"""The report on a grid: its claims and verdicts, as a table on the terminal and as one page."""
