"""Resources that a test needs before its client comes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from image_workflow_emulator.client.control_client import (
    STATE_SECONDS,
    YAML,
    ControlClient,
)
from image_workflow_emulator.client.local_files import is_refusal, read_file

__tracebackhide__ = is_refusal

Resource: TypeAlias = dict[str, Any]
"""A resource as `/v1` shows it."""


class Given:
    """Makes resources by the rules of `/v1`.

    The journal, conduct and coverage do not know of it. Work takes its time by the clock
    of the sandbox, which is moved to its end. Each method returns the resource as `/v1`
    shows it. Its `fields` are more fields of the body under `/v1`.

    Raises EmulatorError with the service's code where the service refuses.

        >>> given = create_app(clock="auto").sandbox.given
        >>> shirt = given.product("Linen shirt", photos=2)
        >>> shoot = given.photoshoot(products=[shirt])
        >>> shoot["status"]
        'completed'
    """

    def __init__(self, plane: ControlClient) -> None:
        self._plane = plane

    def product(
        self,
        name: str,
        *,
        photos: int = 1,
        **fields: Any,
    ) -> Resource:
        """Make a Product.

        `name`: what it is called. `photos`: the number of its photos, which are drawn.

            >>> given = create_app().sandbox.given
            >>> shirt = given.product("Linen shirt", photos=2)
            >>> shirt["name"], len(shirt["asset_ids"])
            ('Linen shirt', 2)
        """
        return self._make(
            "product",
            name=name,
            photos=photos,
            **fields,
        )

    def fashion_model(
        self,
        name: str,
        *,
        photos: int = 1,
        **fields: Any,
    ) -> Resource:
        """Make a Fashion Model, and return it when it is finished.

        `name`: what it is called. `photos`: the number of its photos, which are drawn.

            >>> given = create_app(clock="auto").sandbox.given
            >>> given.fashion_model("Ava")["name"]
            'Ava'
        """
        return self._make(
            "fashion_model",
            name=name,
            photos=photos,
            **fields,
        )

    def background(self, name: str, **fields: Any) -> Resource:
        """Make a Background, and return it when it is finished.

        `name`: what it is called.

            >>> given = create_app(clock="auto").sandbox.given
            >>> given.background("Beach")["name"]
            'Beach'
        """
        return self._make("background", name=name, **fields)

    def pose(self, name: str, **fields: Any) -> Resource:
        """Make a Pose, and return it when it is finished. `name`: what it is called.

        >>> given = create_app(clock="auto").sandbox.given
        >>> given.pose("Walking")["supported_camera_distances"]
        ['close', 'medium', 'far']
        """
        return self._make("pose", name=name, **fields)

    def photography_style(self, name: str, **fields: Any) -> Resource:
        """Make a Photography Style, and return it when it is finished.

        `name`: what it is called.

            >>> given = create_app(clock="auto").sandbox.given
            >>> given.photography_style("Daylight")["object"]
            'photography_style'
        """
        return self._make("photography_style", name=name, **fields)

    def photoshoot(
        self,
        *,
        products: Sequence[str | Mapping[str, Any]],
        finished: bool = True,
        **fields: Any,
    ) -> Resource:
        """Make a photoshoot, and return its Generation.

        `products`: Products, or their ids. `finished`: whether to move the clock to its
        end; else it stays queued.

            >>> given = create_app(clock="manual").sandbox.given
            >>> shirt = given.product("Linen shirt")
            >>> given.photoshoot(products=[shirt], finished=False)["status"]
            'queued'
        """
        product_ids = [_id_of(product) for product in products]
        return self._make(
            "photoshoot",
            products=product_ids,
            finished=finished,
            **fields,
        )

    def file(self, path: str | Path, *, team: str | None = None) -> list[Resource]:
        """Make everything that the file at `path` lists, in order, and return it.

        `team`: whose it will be, by name or id.

        A file with a mistake makes nothing: EmulatorError has its line and column. What
        the service refuses leaves what was made before it.

            >>> from pathlib import Path
            >>> entries = "[{product: {name: Linen shirt}}, {pose: {name: Walking}}]"
            >>> size = Path("shop.yaml").write_text(f"given: {entries}")
            >>> given = create_app(clock="auto").sandbox.given
            >>> made = given.file("shop.yaml", team="Demo")
            >>> [resource["name"] for resource in made]
            ['Linen shirt', 'Walking']
        """
        content = read_file(path)
        query = {"file": str(path), "team": team}
        return self._send(content, query)

    def _make(self, kind: str, /, **fields: Any) -> Resource:
        entry = {kind: fields}
        content = msgspec.json.encode({"given": [entry]})
        (resource,) = self._send(content, {})
        return resource

    def _send(self, content: bytes, query: Mapping[str, Any]) -> list[Resource]:
        answer = self._plane.exchange(
            "POST",
            "given",
            content,
            YAML,
            query=query,
            seconds=STATE_SECONDS,
        )
        answer_fields = msgspec.json.decode(answer)
        resources: list[Resource] = answer_fields["data"]
        return resources


def _id_of(product: str | Mapping[str, Any]) -> str:
    """Return the id of a Product, which may be given by its id."""
    if isinstance(product, str):
        return product
    return str(product["id"])
