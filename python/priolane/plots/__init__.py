"""PNG and PDF files of figures, drawn by matplotlib on request: one style per scheme everywhere, readable in grey."""
