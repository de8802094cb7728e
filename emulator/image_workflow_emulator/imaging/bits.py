"""Numbers of any width in bits, as container and bitstream headers pack them."""


class BitReader:
    """Reads unsigned numbers from bytes, the most significant bit first."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        """Begin at a byte of `data`."""
        self._data = data
        self._position = 8 * start

    def read(self, bit_count: int) -> int:
        """The next number of this many bits. Raises ValueError where the data ends."""
        first = self._position // 8
        self._position += bit_count
        end = -(-self._position // 8)
        if end > len(self._data):
            raise ValueError("the data ends within a number")
        number = int.from_bytes(self._data[first:end], "big")
        unread_bits = 8 * end - self._position
        mask = (1 << bit_count) - 1
        return number >> unread_bits & mask

    def read_signed(self, bit_count: int) -> int:
        """The next number of this many bits, in two's complement."""
        number = self.read(bit_count)
        if number >> (bit_count - 1):
            return number - (1 << bit_count)
        return number
