"""What one parsed module says, as immutable rows keyed by its content."""
