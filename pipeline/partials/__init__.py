"""Partials, which add up exactly: values with a pure, associative, commutative ``+`` and a zero."""
