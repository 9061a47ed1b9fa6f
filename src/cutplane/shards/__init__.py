"""A source and a risk where the examples lie: what touches numbers that there is one of for each example."""
