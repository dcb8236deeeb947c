"""Training of the caller: never imported at run time."""
