"""Where text came from: the lines that differ from a revision; later who wrote them."""
