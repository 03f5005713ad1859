"""Figures of pages as SVG: in two widths, readable without scripts, in the colours of the page around them."""
