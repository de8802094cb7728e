"""What clients do wrong and what they cover of the contract, by their requests."""
