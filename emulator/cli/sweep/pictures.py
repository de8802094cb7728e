"""Image work of the runs of a sweep: what the clean run had done is answered from files.

The runs send the same photos and order the same pictures. Helper processes would take half of the processor time of each.
"""

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from emulator.imaging.helpers import Helpers
from emulator.imaging.messages import Head, Message, receive_message, send_message


class KeptPictures(Helpers):
    """Helper processes that are asked only what they did not answer before. `keeps`: whether new answers are kept."""

    def __init__(self, folder: Path, *, keeps: bool) -> None:
        super().__init__()
        self._folder, self._keeps = folder, keeps

    async def run(self, head: Head, parts: Sequence[bytes]) -> Message:
        """Have a job done, as `Helpers` does it."""
        asked = blake2b(json.dumps(head, sort_keys=True).encode())
        for part in parts:
            asked.update(blake2b(part).digest())
        file = self._folder / asked.hexdigest()
        if file.exists():
            with file.open("rb") as stream:
                return receive_message(stream)
        answer = await super().run(head, parts)
        if self._keeps:
            with file.open("wb") as stream:
                send_message(stream, *answer)
        return answer
