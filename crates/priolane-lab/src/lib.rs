//! Experiments: from a file to a grid of runs, tables and verdicts.
