"""Across evaluations: one table of figures, how sure they are, and whether rankings agree. From grids and labels."""
