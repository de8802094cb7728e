"""What a recording shows of each decision, without an emulator."""
