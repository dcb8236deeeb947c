"""Everything that speaks a protocol: the command line and the language server."""
