"""What can go wrong with a request: in the service, and between it and its client. `fault` says what a fault is."""
