"""Text for terminals, shells and spreadsheets, in which nothing of a file or a peer is carried out."""
