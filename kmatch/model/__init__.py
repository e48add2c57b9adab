"""The memory machine models of Nakano 2012, simulated: how long access patterns take on them."""
