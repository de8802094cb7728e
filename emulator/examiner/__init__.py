"""What clients do wrong, and what of the contract they have met: judged from what the emulator saw of them."""
