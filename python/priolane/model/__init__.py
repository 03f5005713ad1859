"""What an experiment is: its definition, its plan, the keys and parts it is made of."""
