"""What a recording shows of each decision: one function for each, from calls to what was seen, without an emulator."""
