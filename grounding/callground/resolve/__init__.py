"""The evaluator: what an expression can be, as a set of values that is known to be complete, or not."""
