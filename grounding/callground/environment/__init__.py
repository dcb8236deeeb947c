"""The user's interpreter, its search path, and where modules lie.  Nothing of the workspace is imported or run."""
