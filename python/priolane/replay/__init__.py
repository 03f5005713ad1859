"""A page on which a part of a run is played: packets on links, queues by class, windows of chosen flows."""
