"""Files, scenarios and bodies for random clients; bodies are right, or spoiled on purpose."""

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
    """The type that its bytes are, if they are a picture: only under this type they become an Asset (D17)."""

    @property
    def announced(self) -> dict[str, Any]:
        return {"content_type": self.content_type, "size_bytes": len(self.data)}


@cache
def sample_files() -> tuple[SampleFile, ...]:
    small = (24, 16)
    files = [
        SampleFile("plain.png", picture(), "image/png", "png", small, holds="image/png")
    ]
    files.append(
        SampleFile(
            "subject.png",
            photo(size=(96, 96)),
            "image/png",
            "png",
            (96, 96),
            "foreground",
            "image/png",
        )
    )
    files.append(
        SampleFile(
            "wide.png",
            picture(size=(2100, 6)),
            "image/png",
            "png",
            (2100, 6),
            holds="image/png",
        )
    )
    for word, becomes in (
        ("jpeg", "jpeg"),
        ("webp", "webp"),
        ("gif", "png"),
        ("avif", "jpeg"),
    ):
        mode = "L" if word == "gif" else "RGB"
        colour = "#808080" if word == "gif" else "#20a060"
        content_type = f"image/{word}"
        data = picture(content_type, small, colour, mode)
        files.append(
            SampleFile(
                f"plain.{word}", data, content_type, becomes, small, holds=content_type
            )
        )
    files.append(SampleFile("cut.png", picture()[:-30], "image/png", "png", small))
    jpeg = picture("image/jpeg", small, "#20a060")
    files.append(
        SampleFile("jpeg.png", jpeg, "image/png", "jpeg", small, holds="image/jpeg")
    )
    return tuple(files)


def rules(*rules: Json) -> Json:
    return {"rules": list(rules)}


def timeline(*changes: Json) -> Json:
    return {"timeline": list(changes)}


SCENARIOS: Final[tuple[Json, ...]] = (
    rules(
        {
            "match": {"work": "product_photography"},
            "then": {"outputs": {"1": "content_rejected", "3": "timed_out"}},
        }
    ),
    rules({"match": {"work": "*"}, "then": {"fail": "processing_failed"}}),
    rules(
        {"match": {"work": "*"}, "when": {"nth": "2"}, "then": {"fail": "timed_out"}}
    ),
    rules(
        {"match": {"work": "upscale"}, "when": {"nth": "1"}, "then": {"stall": True}},
        {"match": {"work": "pose.create"}, "then": {"duration": 30}},
        {"match": {"work": "edit_images"}, "then": {"duration": 1}},
    ),
    rules(
        {"match": {"work": "background.create"}, "then": {"scene": "foreground"}},
        {"match": {"work": "background.update"}, "then": {"scene": "clean"}},
    ),
    timeline(
        {"at": 0, "set": {"admission": "paused", "retry_after": 7}},
        {"at": 20, "set": {"admission": "open"}},
    ),
    timeline(
        {"at": 0, "set": {"admission": "paused"}},
        {"at": 1, "set": {"admission": "paused", "retry_after": 3}},
        {"at": 60, "set": {"admission": "open"}},
    ),
    timeline(
        {"at": 1, "set": {"credential": "ash_second", "state": "revoked"}},
        {"at": 2, "set": {"team": "Ash", "subscription": "inactive"}},
        {"at": 15, "set": {"team": "Ash", "subscription": "active"}},
        {"at": 15, "set": {"credential": "ash_second", "state": "active"}},
    ),
    timeline(
        {"at": 2, "set": {"team": "Ash", "credits": 2, "concurrency_limit": 2}},
        {"at": 2, "set": {"team": "Birch", "credits": 9}},
        {"at": 8, "set": {"team": "Ash", "credits": 12, "concurrency_limit": 6}},
    ),
    rules(
        {"match": {"work": "*", "team": "Birch"}, "then": {"fail": "content_rejected"}},
        {"match": {"work": "*"}, "when": {"nth": "1"}, "then": {"stall": True}},
    ),
    rules(
        {
            "match": {"operation": "createProduct", "team": "Ash"},
            "then": {"problem": "rate_limited"},
        }
    ),
    *(
        rules({"match": {"operation": operation}, "when": {"nth": "1"}, "then": then})
        for operation, then in (
            (
                "createUpscaleGeneration",
                {"problem": "internal_error", "at": "after_commit"},
            ),
            (
                "createProductPhotographyGeneration",
                {"problem": "service_unavailable", "at": "after_commit"},
            ),
            ("createPose", {"problem": "internal_error", "at": "after_commit"}),
            ("createProduct", {"problem": "internal_error"}),
            ("createEditImagesGeneration", {"problem": "insufficient_credits"}),
            ("updateProduct", {"problem": "service_unavailable"}),
            ("deleteAsset", {"problem": "resource_operation_in_progress"}),
        )
    ),
)
"""Each is everyone's or one Team's. None matches GET /team or a list, by which the comparison looks."""


TEXTS: Final = ("Linen shirt", "Ärmel", "x")
COLORS: Final = ("#CC0011", "cc0011")
MAX_REFERENCES: Final = 4
"""Most references in a list that may have more."""


def without(name: str) -> Callable[[Json], Json]:
    return lambda body: {field: value for field, value in body.items() if field != name}


class RandomBodies:
    def __init__(self, chance: Random, state: State, team: str) -> None:
        self._chance = chance
        self._state = state
        self._team = team

    def body(self, operation: str) -> Json:
        """Return a right body: what the contract requires, and some of the rest, in agreement with each other."""
        body = self._object(shipped_checker().body_schema(operation))
        if "primary_asset_id" in body and "asset_ids" in body:
            body["primary_asset_id"] = self._chance.choice(body["asset_ids"])
        if "output_mode" in body:
            if not body.get("product_ids") and not body.get("asset_ids"):
                body["asset_ids"] = self.references("asset", 1, MAX_REFERENCES)
            if "image_count" in body:
                is_photoshoot = body["output_mode"] == "photoshoot"
                body["image_count"] = self._chance.choice(
                    (4, 4.0) if is_photoshoot else (1, 2, 3.0, 6)
                )
        return body or {"name": self._chance.choice(TEXTS)}

    def _object(self, schema: Any) -> Json:
        required = schema.get("required", ())
        return {
            name: self._value(name, shipped_checker().resolve(field))
            for name, field in schema["properties"].items()
            if name in required or self._chance.random() < 0.4
        }

    def _value(self, name: str, schema: Any) -> Any:
        choose = self._chance.choice
        if name.endswith("_ids"):
            most = min(schema.get("maxItems", MAX_REFERENCES), MAX_REFERENCES)
            return self.references(
                name.removesuffix("_ids"), schema.get("minItems", 0), most
            )
        if name.endswith("_id"):
            return self.reference(name.removesuffix("_id").removeprefix("primary_"))
        if "oneOf" in schema:
            return self._object(shipped_checker().resolve(choose(schema["oneOf"])))
        if "enum" in schema:
            return choose(schema["enum"])
        match schema["type"]:
            case "object":
                return self._object(schema)
            case "array":
                words = shipped_checker().resolve(schema["items"])["enum"]
                return self._chance.sample(words, self._chance.randint(1, len(words)))
            case "integer":
                return schema["minimum"]
        return schema.get("const") or choose(
            COLORS if name in ("color", "hex") else TEXTS
        )

    def spoiled(self, operation: str, body: Json) -> Any:
        ways: list[Callable[[Json], Any]] = [
            lambda body: {**body, "shade": "pale"},
            lambda body: {**body, self._chance.choice(sorted(body)): None},
            lambda body: {**body, self._chance.choice(sorted(body)): {"no": 1}},
            lambda body: [body],
        ]
        ways += [
            without(name)
            for name in shipped_checker().body_schema(operation).get("required", ())
        ]
        if operation.startswith("update"):
            ways.append(lambda _: {})
        return self._chance.choice(ways)(body)

    def reference(self, kind: str) -> str:
        """Return an id of a kind: nearly always one that the Team can use, if there is one."""
        usable = self._state.ids(kind, self._team)
        if usable and self._chance.randrange(12):
            return self._chance.choice(usable)
        return self._chance.choice([*self._state.owner, "made-up"])

    def references(self, kind: str, least: int, most: int) -> list[str]:
        count = self._chance.randint(least, most)
        found = dict.fromkeys(self.reference(kind) for _ in range(count))
        usable = [
            identifier
            for identifier in self._state.ids(kind, self._team)
            if identifier not in found
        ]
        missing = [f"missing-{number}" for number in range(least)]
        return [*found, *usable[: max(0, least - len(found))], *missing][
            : max(least, len(found))
        ]
