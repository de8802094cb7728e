"""Large blocks of memory: what uploads and pictures are held in goes back to the system
when it is freed.
"""

import contextlib

_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of glibc's `mallopt`."""
_LARGE_BYTES = 1 << 20


def give_back_large_blocks() -> None:
    """Keep no freed block of a mebibyte or more. Does something with glibc alone.

    By itself glibc raises this limit to 32 MiB as such blocks are freed, and then keeps
    holes of that size for ever.
    """
    import ctypes  # not needed before the first answer

    # Another C library, or Windows.
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
