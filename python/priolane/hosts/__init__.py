"""Real hosts: runs on a testbed or on machines, and their agreement with simulations."""
