"""Time, chance and order: what makes the emulator deterministic. Knows nothing of
images, HTTP or the service.
"""
