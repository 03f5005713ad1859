"""Files: whole or not at all, the directory of a grid and its owner, object stores, the shape of what is read."""
