"""Recording what real editors send while somebody works in them, and replaying it."""
