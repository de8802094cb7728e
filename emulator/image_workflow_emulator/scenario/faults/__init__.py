"""What can go wrong with a request: one file a fault. `base` says what a fault is, `registry` lists them."""
