"""Files that random clients upload, and what is known of each: what it becomes (D18), and whether its scene is
clean.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.support.pictures import photo, picture


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A file with its declared type. `format` is that of the Asset."""

    name: str
    data: bytes
    content_type: str
    format: str
    size: tuple[int, int]
    scene: str = "clean"
    holds: str = ""
    """The type that its bytes are, if they are a picture: only under this type they become an Asset (D17)."""

    @property
    def announced(self) -> dict[str, Any]:
        return {"content_type": self.content_type, "size_bytes": len(self.data)}


@cache
def sample_files() -> tuple[SampleFile, ...]:
    small = (24, 16)
    files = [SampleFile("plain.png", picture(), "image/png", "png", small, holds="image/png")]
    files.append(
        SampleFile("subject.png", photo(size=(96, 96)), "image/png", "png", (96, 96), "foreground", "image/png")
    )
    files.append(SampleFile("wide.png", picture(size=(2100, 6)), "image/png", "png", (2100, 6), holds="image/png"))
    for word, becomes in (("jpeg", "jpeg"), ("webp", "webp"), ("gif", "png"), ("avif", "jpeg")):
        mode = "L" if word == "gif" else "RGB"
        colour = "#808080" if word == "gif" else "#20a060"
        content_type = f"image/{word}"
        data = picture(content_type, small, colour, mode)
        files.append(SampleFile(f"plain.{word}", data, content_type, becomes, small, holds=content_type))
    files.append(SampleFile("cut.png", picture()[:-30], "image/png", "png", small))
    jpeg = picture("image/jpeg", small, "#20a060")
    files.append(SampleFile("jpeg.png", jpeg, "image/png", "jpeg", small, holds="image/jpeg"))
    return tuple(files)
