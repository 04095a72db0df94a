"""Across evaluations: one table of figures, how sure they are, and whether rankings agree. Reads grids and totals."""
