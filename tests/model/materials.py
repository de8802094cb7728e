"""Files, scenarios and bodies for random clients.

Bodies are right, or spoiled on purpose.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final

from tests.model.arithmetic import Json
from tests.model.model_state import State
from tests.support.contract_check import shipped_checker
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
    """The type of the picture in its bytes, if there is one.

    Only where that is the declared type they become an Asset (D17).
    """

    @property
    def announced(self) -> dict[str, Any]:
        return {"content_type": self.content_type, "size_bytes": len(self.data)}


SMALL: Final = (24, 16)
"""Size of a picture in pixels, where it does not matter."""


@cache
def sample_files() -> tuple[SampleFile, ...]:
    truncated = SampleFile(
        name="cut.png",
        data=picture()[:-30],
        content_type="image/png",
        format="png",
        size=SMALL,
    )
    mislabelled = SampleFile(
        name="jpeg.png",
        data=picture("image/jpeg", SMALL, "#20a060"),
        content_type="image/png",
        format="jpeg",
        size=SMALL,
        holds="image/jpeg",
    )
    square = (96, 96)
    wide = (2100, 6)
    return (
        _png("plain.png", picture(), SMALL),
        _png("subject.png", photo(size=square), square, scene="foreground"),
        _png("wide.png", picture(size=wide), wide),
        _plain("jpeg", becomes="jpeg"),
        _plain("webp", becomes="webp"),
        _plain(
            "gif",
            becomes="png",
            colour="#808080",
            mode="L",
        ),
        _plain("avif", becomes="jpeg"),
        truncated,
        mislabelled,
    )


def _png(
    name: str,
    data: bytes,
    size: tuple[int, int],
    scene: str = "clean",
) -> SampleFile:
    return SampleFile(
        name=name,
        data=data,
        content_type="image/png",
        format="png",
        size=size,
        scene=scene,
        holds="image/png",
    )


def _plain(
    word: str,
    becomes: str,
    colour: str = "#20a060",
    mode: str = "RGB",
) -> SampleFile:
    """Return a small picture of one colour; its Asset has the format `becomes`."""
    media_type = f"image/{word}"
    return SampleFile(
        name=f"plain.{word}",
        data=picture(media_type, SMALL, colour, mode),
        content_type=media_type,
        format=becomes,
        size=SMALL,
        holds=media_type,
    )


# Scenarios ----------------------------------------------------------------------------


def rules(*rules: Json) -> Json:
    return {"rules": list(rules)}


def timeline(*changes: Json) -> Json:
    return {"timeline": list(changes)}


def pause(at: int, **retry_after: int) -> Json:
    return {"at": at, "set": {"admission": "paused", **retry_after}}


def opening(at: int) -> Json:
    return {"at": at, "set": {"admission": "open"}}


def second_credential(at: int, state: str) -> Json:
    return {"at": at, "set": {"credential": "ash_second", "state": state}}


def team(
    at: int,
    name: str,
    **changes: int | str,
) -> Json:
    return {"at": at, "set": {"team": name, **changes}}


def fate_of(
    work: str,
    then: Json,
    nth: str | None = None,
) -> Json:
    """Return a rule for work of a type; for one piece of it where `nth` says which."""
    rule: Json = {"match": {"work": work}, "then": then}
    if nth is not None:
        rule["when"] = {"nth": nth}
    return rule


def first_call(
    operation: str,
    problem: str,
    at: str | None = None,
) -> Json:
    """Return a scenario that answers the first call of an operation with a problem."""
    then = {"problem": problem}
    if at is not None:
        then["at"] = at
    rule = {"match": {"operation": operation}, "when": {"nth": "1"}, "then": then}
    return rules(rule)


TWO_OUTPUTS_FAIL: Final = fate_of(
    "product_photography",
    {"outputs": {"1": "content_rejected", "3": "timed_out"}},
)
FOR_BIRCH: Final = {
    "match": {"work": "*", "team": "Birch"},
    "then": {"fail": "content_rejected"},
}
FOR_ASH: Final = {
    "match": {"operation": "createProduct", "team": "Ash"},
    "then": {"problem": "rate_limited"},
}
SCENARIOS: Final[tuple[Json, ...]] = (
    rules(TWO_OUTPUTS_FAIL),
    rules(fate_of("*", {"fail": "processing_failed"})),
    rules(fate_of("*", {"fail": "timed_out"}, nth="2")),
    rules(
        fate_of("upscale", {"stall": True}, nth="1"),
        fate_of("pose.create", {"duration": 30}),
        fate_of("edit_images", {"duration": 1}),
    ),
    rules(
        fate_of("background.create", {"scene": "foreground"}),
        fate_of("background.update", {"scene": "clean"}),
    ),
    timeline(pause(at=0, retry_after=7), opening(at=20)),
    timeline(pause(at=0), pause(at=1, retry_after=3), opening(at=60)),
    timeline(
        second_credential(at=1, state="revoked"),
        team(
            at=2,
            name="Ash",
            subscription="inactive",
        ),
        team(
            at=15,
            name="Ash",
            subscription="active",
        ),
        second_credential(at=15, state="active"),
    ),
    timeline(
        team(
            at=2,
            name="Ash",
            credits=2,
            concurrency_limit=2,
        ),
        team(
            at=2,
            name="Birch",
            credits=9,
        ),
        team(
            at=8,
            name="Ash",
            credits=12,
            concurrency_limit=6,
        ),
    ),
    rules(FOR_BIRCH, fate_of("*", {"stall": True}, nth="1")),
    rules(FOR_ASH),
    first_call("createUpscaleGeneration", "internal_error", "after_commit"),
    first_call(
        "createProductPhotographyGeneration",
        "service_unavailable",
        "after_commit",
    ),
    first_call("createPose", "internal_error", "after_commit"),
    first_call("createProduct", "internal_error"),
    first_call("createEditImagesGeneration", "insufficient_credits"),
    first_call("updateProduct", "service_unavailable"),
    first_call("deleteAsset", "resource_operation_in_progress"),
)
"""Each is everyone's or one Team's.

None matches GET /team or a list, by which the comparison looks.
"""


# Bodies -------------------------------------------------------------------------------

TEXTS: Final = ("Linen shirt", "Ärmel", "x")
COLORS: Final = ("#CC0011", "cc0011")
MAX_REFERENCES: Final = 4
"""Most references in a list that may have more."""


Spoil = Callable[[Json], Any]
"""Returns a body that is not right any more."""


def drop(name: str) -> Spoil:
    def spoil(body: Json) -> Json:
        return {field: value for field, value in body.items() if field != name}

    return spoil


class RandomBodies:
    def __init__(
        self,
        chance: Random,
        state: State,
        team: str,
    ) -> None:
        self._chance = chance
        self._state = state
        self._team = team

    def body(self, operation: str) -> Json:
        """Return a right body: what the contract requires, and some of the rest."""
        schema = shipped_checker().body_schema(operation)
        body = self._object(schema)
        if "primary_asset_id" in body and "asset_ids" in body:
            body["primary_asset_id"] = self._chance.choice(body["asset_ids"])
        if "output_mode" in body:
            self._complete_photography(body)
        return body or {"name": self._chance.choice(TEXTS)}

    def _complete_photography(self, body: Json) -> None:
        """Give a body subjects, and a number of images that its mode takes."""
        if not body.get("product_ids") and not body.get("asset_ids"):
            body["asset_ids"] = self.references("asset", 1, MAX_REFERENCES)
        if "image_count" not in body:
            return
        counts: tuple[float, ...] = (1, 2, 3.0, 6)
        if body["output_mode"] == "photoshoot":
            counts = (4, 4.0)
        body["image_count"] = self._chance.choice(counts)

    def _object(self, schema: Any) -> Json:
        required = schema.get("required", ())
        fields: Json = {}
        for name, field_schema in schema["properties"].items():
            if name in required or self._chance.random() < 0.4:
                resolved = shipped_checker().resolve(field_schema)
                fields[name] = self._value(name, resolved)
        return fields

    def _value(self, name: str, schema: Any) -> Any:
        if name.endswith("_ids"):
            least = schema.get("minItems", 0)
            most = min(schema.get("maxItems", MAX_REFERENCES), MAX_REFERENCES)
            return self.references(name.removesuffix("_ids"), least, most)
        if name.endswith("_id"):
            return self.reference(name.removesuffix("_id").removeprefix("primary_"))
        if "oneOf" in schema:
            branch = self._chance.choice(schema["oneOf"])
            return self._object(shipped_checker().resolve(branch))
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        match schema["type"]:
            case "object":
                return self._object(schema)
            case "array":
                words = shipped_checker().resolve(schema["items"])["enum"]
                count = self._chance.randint(1, len(words))
                return self._chance.sample(words, count)
            case "integer":
                return schema["minimum"]
        if name in ("color", "hex"):
            return self._chance.choice(COLORS)
        return self._chance.choice(TEXTS)

    def spoiled(self, operation: str, body: Json) -> Any:
        ways: list[Spoil] = [
            lambda body: {**body, "shade": "pale"},
            self._replace_any(None),
            self._replace_any({"no": 1}),
            lambda body: [body],
        ]
        required = shipped_checker().body_schema(operation).get("required", ())
        ways += [drop(name) for name in required]
        if operation.startswith("update"):
            ways.append(lambda _: {})
        spoil = self._chance.choice(ways)
        return spoil(body)

    def _replace_any(self, value: Any) -> Spoil:
        def spoil(body: Json) -> Json:
            name = self._chance.choice(sorted(body))
            return {**body, name: value}

        return spoil

    def reference(self, kind: str) -> str:
        """Return an id of a kind: nearly always one that the Team can use."""
        usable = self._state.ids(kind, self._team)
        if usable and self._chance.randrange(12):
            return self._chance.choice(usable)
        return self._chance.choice([*self._state.owner, "made-up"])

    def references(
        self,
        kind: str,
        least: int,
        most: int,
    ) -> list[str]:
        """Return different ids of a kind, with usable ones up to `least`."""
        count = self._chance.randint(least, most)
        drawn = dict.fromkeys(self.reference(kind) for _ in range(count))
        usable = self._state.ids(kind, self._team)
        missing = [f"missing-{number}" for number in range(least)]
        for identifier in (*usable, *missing):
            if len(drawn) >= least:
                break
            drawn[identifier] = None
        return list(drawn)
