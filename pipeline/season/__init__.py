"""A whole evaluation season: who takes part, what they handed in, what was decided, and what may be seen of it."""
