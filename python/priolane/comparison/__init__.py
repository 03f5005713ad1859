"""Two results, or two schemes of one, side by side."""
