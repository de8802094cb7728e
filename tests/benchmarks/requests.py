"""The requests of the measurements, and what they refer to."""

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, NamedTuple

from tests.benchmarks.servers import key


class Template(NamedTuple):
    """A request as bytes; where one needs a number of its own, what comes before and after it."""

    before: bytes
    after: bytes = b""

    def number(self, number: int) -> bytes:
        return b"%b%012d%b" % (self.before, number, self.after) if self.after else self.before


def template(method: str, path: str, key: str, body: Any = None, is_numbered: bool = False) -> Template:
    """Write a request; a numbered one has an Idempotency-Key of its own each time."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    if body is not None:
        media_type = "image/jpeg" if isinstance(body, bytes) else "application/json"
        head += f"Content-Type: {media_type}\r\nContent-Length: {len(content)}\r\n"
    if is_numbered:
        return Template(f"{head}Idempotency-Key: ".encode(), b"\r\n\r\n" + content)
    return Template(f"{head}\r\n".encode() + content)


def raw_request(request: Template, size: int) -> Template:
    """Return a request to the raw server, whose path asks for an answer of this size."""
    method, _, rest = request.before.split(b" ", 2)
    return Template(b"%b /%d %b" % (method, size, rest), request.after)


def prepared_requests(ask: Callable[[bytes], bytes], team: int, numbers: Iterator[int]) -> list[Template]:
    """Make what the requests of a Team refer to, and return them: a read, a write, a list and a poll."""
    asset = make_asset(ask, team, photo(40, 30))
    product = {"name": "Bench", "asset_ids": [asset], "primary_asset_id": asset}
    create = template("POST", "/v1/products", key(team), product, is_numbered=True)
    for _ in range(30):
        ask(create.number(next(numbers)))
    order = photoshoot(asset)
    shoot = template("POST", "/v1/generations/product-photography", key(team), order, is_numbered=True)
    generation = json.loads(ask(shoot.number(next(numbers))))["id"]
    read, page, poll = (
        template("GET", path, key(team)) for path in ("/v1/team", "/v1/products", f"/v1/generations/{generation}")
    )
    return [read, create, page, poll]


def photoshoot(asset: str) -> dict[str, Any]:
    return {"asset_ids": [asset], "output_mode": "photoshoot"}


def photo(width: int, height: int) -> bytes:
    """Return a file with something in it, as a camera would make it."""
    from PIL import Image, ImageDraw

    image = Image.effect_mandelbrot((width, height), (-2.0, -1.5, 1.0, 1.5), 50).convert("RGB")
    ImageDraw.Draw(image).ellipse((width // 3, height // 5, width * 2 // 3, height * 4 // 5), fill=(180, 60, 40))
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def make_asset(ask: Callable[[bytes], bytes], team: int, data: bytes) -> str:
    path = f"/_emulator/assets?team=Team%20{team:02}"
    return str(json.loads(ask(template("POST", path, "none", data).before))["id"])
