"""The user's interpreter, its search path, and where modules lie.  No module of the workspace is run."""
