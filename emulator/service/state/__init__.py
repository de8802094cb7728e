"""State files: a whole sandbox as one zip, to attach to a bug report and load elsewhere.

The file holds `state.jsonl` and `pictures/<SHA-256>` for the bytes of each encoded picture. The first line of
`state.jsonl` is an object of all that a `SandboxState` has once; every other line is `[table, row]`, one thing of which
there are many (`layout`). So a file is written (`saving`) and read (`loading`) piece by piece, however large it is, and
other threads are not blocked. `codec` says how a value is written.

A sandbox that is loaded continues byte for byte as the original would have. What is not in the file: requests that were
being answered (held admissions among them), and the journal's entries; its numbers go on. What follows from the rest
(indexes, reservations, who holds which picture) is rebuilt by `soundness`, which also refuses what does not fit.

A sandbox of another id can take the file: its keys then have its own id worked in, its links lead to it, and tokens and
cursors that the original gave out stay good.
"""

from emulator.service.state.loading import load
from emulator.service.state.saving import save
from emulator.service.state.soundness.rows import StateError

__all__ = ["StateError", "load", "save"]
