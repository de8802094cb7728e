"""What can go wrong with a request: one file a fault. `fault` says what a fault is."""
