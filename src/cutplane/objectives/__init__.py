"""The risk as a function of the weights, over a shard."""
