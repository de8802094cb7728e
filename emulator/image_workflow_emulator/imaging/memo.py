"""The last few pictures that were prepared from files."""

import hashlib
from collections.abc import Callable

from image_workflow_emulator.imaging.pictures import Picture

MAX_REMEMBERED = 6
"""Pictures that are kept of each kind; each takes some 4 MB at most."""


def remembered(prepare: Callable[..., Picture]) -> Callable[..., Picture]:
    """Keep what was made of the last few files, by their digests.

    The slots of a Generation have the same inputs.
    """
    kept: dict[tuple[object, ...], Picture] = {}

    def prepared(data: bytes, *options: object) -> Picture:
        digest = hashlib.blake2b(data).digest()
        key = (digest, options)
        image = kept.pop(key, None)
        if image is None:
            image = prepare(data, *options)
        kept[key] = image
        if len(kept) > MAX_REMEMBERED:
            oldest = next(iter(kept))
            del kept[oldest]
        return image

    return prepared
