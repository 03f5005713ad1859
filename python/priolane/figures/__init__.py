"""Figures of a report: one style per scheme everywhere, readable in grey, in print and without scripts."""
