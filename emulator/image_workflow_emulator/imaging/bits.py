"""Numbers of any width in bits, as container and bitstream headers pack them."""

from math import ceil


class BitReader:
    """Reads unsigned numbers from bytes, the most significant bit first."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        """Begin at a byte of `data`."""
        self._data = data
        self._position = 8 * start

    def read(self, bit_count: int) -> int:
        """The next number of this many bits. Raises ValueError where the data ends."""
        first_byte = self._position // 8
        self._position += bit_count
        end_byte = ceil(self._position / 8)
        if end_byte > len(self._data):
            raise ValueError("the data ends within a number")
        bits = int.from_bytes(self._data[first_byte:end_byte], "big")
        unread_count = 8 * end_byte - self._position
        mask = (1 << bit_count) - 1
        return bits >> unread_count & mask

    def read_signed(self, bit_count: int) -> int:
        """The next number of this many bits, in two's complement."""
        number = self.read(bit_count)
        if number >> (bit_count - 1):
            return number - (1 << bit_count)
        return number
