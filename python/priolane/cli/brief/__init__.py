"""What commands print unless they are asked for more: the answer in at most 20 lines of 100 columns."""
