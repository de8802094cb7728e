"""What commands have in common: their options, and how they print.

Each option that several commands take is one decorator. The commands are in `cli`, and
those of a judge of its own in its room (`sweep`, `drift`).
"""
