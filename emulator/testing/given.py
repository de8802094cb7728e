"""Seeding: the Products, ingredients and photoshoots that a sandbox has before the client under test comes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from emulator.testing.control import STATE_SECONDS, YAML, ControlClient
from emulator.testing.errors import is_refusal
from emulator.testing.files import read_document_file

__tracebackhide__ = is_refusal

Resource: TypeAlias = dict[str, Any]
"""A resource as `/v1` shows it."""


class Given:
    """Makes resources by the rules of `/v1`. The journal, conduct and coverage do not know of it.

    Work takes its time by the clock of the sandbox, which is moved to its end. `fields` are more fields of the body under
    `/v1`. Every method raises EmulatorError with the service's code where the service refuses.

        shirt = sandbox.given.product("Linen shirt", photos=2)
        shoot = sandbox.given.photoshoot(products=[shirt], finished=True)
    """

    def __init__(self, plane: ControlClient) -> None:
        self._plane = plane

    def product(self, name: str, *, photos: int = 1, **fields: Any) -> Resource:
        """Make a Product of drawn photos."""
        return self._make("product", name=name, photos=photos, **fields)

    def fashion_model(self, name: str, *, photos: int = 1, **fields: Any) -> Resource:
        """Make a Fashion Model, and return it when it is finished."""
        return self._make("fashion_model", name=name, photos=photos, **fields)

    def background(self, name: str, **fields: Any) -> Resource:
        """Make a Background, and return it when it is finished."""
        return self._make("background", name=name, **fields)

    def pose(self, name: str, **fields: Any) -> Resource:
        """Make a Pose, and return it when it is finished."""
        return self._make("pose", name=name, **fields)

    def photography_style(self, name: str, **fields: Any) -> Resource:
        """Make a Photography Style, and return it when it is finished."""
        return self._make("photography_style", name=name, **fields)

    def photoshoot(
        self, *, products: Sequence[str | Mapping[str, Any]], finished: bool = True, **fields: Any
    ) -> Resource:
        """Make a photoshoot of Products, which are resources or ids; return its Generation. If not `finished`, it is queued."""
        ids = [product if isinstance(product, str) else product["id"] for product in products]
        return self._make("photoshoot", products=ids, finished=finished, **fields)

    def file(self, path: str | Path, *, team: str | None = None) -> list[Resource]:
        """Make everything that a file lists, and return it; of a file with a mistake, nothing."""
        query = {"file": str(path), "team": team}
        return self._send(read_document_file(Path(path)), query)

    def _make(self, kind: str, **fields: Any) -> Resource:
        return self._send(orjson.dumps({"given": [{kind: fields}]}), {})[0]

    def _send(self, content: bytes, query: Mapping[str, Any]) -> list[Resource]:
        answer = self._plane.exchange("POST", "given", content, YAML, query=query, seconds=STATE_SECONDS)
        made: list[Resource] = orjson.loads(answer)["data"]
        return made
