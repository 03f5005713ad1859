"""The output of commands that are not asked for more: the answer in at most 20 lines of 100 columns."""
