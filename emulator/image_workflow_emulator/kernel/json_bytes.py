"""JSON that is kept for long, in no more memory than it needs."""

import orjson


def json_bytes(value: object, option: int = 0) -> bytes:
    """Write a value as JSON, in bytes of its own size.

    What orjson returns lies in a buffer of 4 KiB or more, which would be held for as long as the bytes are.
    """
    return b"%b" % orjson.dumps(value, None, option)
