"""What a grid showed: its claims and verdicts, as a table on the terminal and as one page."""
