"""State files: a whole sandbox as one zip, to attach to a bug report and load
elsewhere.

The file holds `state.jsonl`, `pictures/<SHA-256>` for the bytes of each encoded
picture, and `state.sha256`, the digest of `state.jsonl` as `sha256sum` writes it, which
finds damage and edits. The first line of `state.jsonl` is a `Head`, of what a sandbox
has once; every other line is `[table, row]`, one thing of which there are many, in the
order of the tables (`tables`). So a file is written and read piece by piece
(`archive`), however large it is, and other threads are not blocked.

A sandbox that is loaded continues byte for byte as the original would have. What is not
in the file: requests that were being answered (held admissions among them), and the
journal's entries; its numbers go on. Types say what a value may be; references lead to
what is there; and the events to come are played to their end, in a copy, before a file
is accepted. Whether the rows agree in all else is not checked: who writes a digest
under a file of their own owns what follows. It can harm no other sandbox, runs nothing,
and stays within the bounds of memory.

A sandbox of another id can take the file: its keys then have its own id worked in, its
links lead to it, and tokens and cursors that the original gave out stay good.
"""
