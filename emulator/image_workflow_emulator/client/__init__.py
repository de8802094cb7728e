"""The client of the control plane, on which `cli`, `testing`, `sweep` and `drift` stand.

Must not use an emulator's objects: most emulators run in another process.
"""
