"""What the room works on: images of Pillow, named by what they hold."""

from typing import TypeAlias

from PIL import Image

Picture: TypeAlias = Image.Image
"""What is seen: in RGB, or in RGBA if some of it is transparent."""
Mask: TypeAlias = Image.Image
"""Where something is, from 0 (nowhere) to 255, in mode L."""
Size: TypeAlias = tuple[int, int]
"""Width and height, in pixels."""
