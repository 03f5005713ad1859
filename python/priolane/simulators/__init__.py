"""Packet simulators of others that a user has built, run beside priolane on the same flows."""
