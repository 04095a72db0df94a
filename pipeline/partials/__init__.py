"""What adds up exactly: values with a pure, associative, commutative ``+`` and a zero."""
