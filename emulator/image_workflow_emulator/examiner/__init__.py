"""What clients do wrong, and how much of the contract they cover: judged from their requests."""
