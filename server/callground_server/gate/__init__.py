"""The gate's faces: one engine behind the command line, hooks, the daemon, MCP and HTTP."""
