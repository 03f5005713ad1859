"""The study of five papers, and our own figures: catalogue, records, and how figures are reproduced."""
