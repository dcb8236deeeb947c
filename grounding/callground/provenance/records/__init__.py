"""Records that assistants and their tools leave behind: read, never written."""
