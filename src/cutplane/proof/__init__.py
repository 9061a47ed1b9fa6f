"""What is proven of a model, apart from how it was found: nothing here reads a solver."""
