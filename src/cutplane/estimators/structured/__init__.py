"""Labels that are objects: sequences, classes with costs, a user's own."""
