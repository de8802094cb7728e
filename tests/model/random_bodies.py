"""What random clients send: bodies that are right, and the same made wrong on purpose.

A right body keeps to the contract; what it refers to is mostly there, and now and then deleted, another Team's or made up.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from tests.model.arithmetic import Json
from tests.model.service_model import ServiceModel
from tests.support.contract_check import shipped_checker

ASPECT_RATIOS: Final = ("21:9", "1:1", "4:3", "3:2", "2:3", "5:4", "4:5", "3:4", "16:9", "9:16")
AGE_RANGES: Final = ("18-25", "25-35", "35-45", "45-55", "55+")
DISTANCES: Final = ("close", "medium", "far")
TEXTS: Final = ("Linen shirt", "Ärmel", "x")


def without(name: str) -> Callable[[Json], Json]:
    """Return what takes a field out of a body."""
    return lambda body: {field: value for field, value in body.items() if field != name}


class RandomBodies:
    """Bodies of one Team's requests, by operation id."""

    def __init__(self, chance: Random, model: ServiceModel, team: str) -> None:
        self._chance = chance
        self._model = model
        self._team = team

    def body(self, operation: str) -> Json:
        writers: dict[str, Callable[[], Json]] = {
            "createProduct": self._product,
            "updateProduct": self._product_patch,
            "createPhotographyStyle": self._style,
            "createBackground": self._background,
            "createPose": self._pose,
            "createFashionModel": self._model_of_fashion,
            "createProductPhotographyGeneration": self._photography,
            "createEditImagesGeneration": self._edit,
            "createUpscaleGeneration": self._upscale,
        }
        if operation in writers:
            return writers[operation]()
        return self._part_of(writers[operation.replace("update", "create")]())

    def spoiled(self, operation: str, body: Json) -> Any:
        """Return the body made wrong: the contract refuses it."""
        ways: list[Callable[[Json], Any]] = [
            lambda body: {**body, "shade": "pale"},
            lambda body: {**body, self._chance.choice(sorted(body)): None},
            lambda body: {**body, self._chance.choice(sorted(body)): {"no": 1}},
            lambda body: [body],
        ]
        ways += [without(name) for name in shipped_checker().body_schema(operation).get("required", ())]
        if operation.startswith("update"):
            ways.append(lambda _: {})
        for name in body:
            ways += self._ways_to_spoil(operation, name)
        return self._chance.choice(ways)(body)

    def _ways_to_spoil(self, operation: str, name: str) -> list[Callable[[Json], Any]]:
        field = shipped_checker().body_schema(operation)["properties"][name]
        if "enum" in shipped_checker().resolve(field):
            return [lambda body: {**body, name: "no-such-word"}]
        if name in ("name", "instructions"):
            return [lambda body: {**body, name: "  "}, lambda body: {**body, name: ""}]
        if name in ("asset_ids", "product_ids"):
            doubled: list[Callable[[Json], Any]] = [lambda body: {**body, name: ["same", "same"]}]
            return doubled if "Photography" in operation else [*doubled, lambda body: {**body, name: []}]
        if name == "primary_asset_id" and operation == "createProduct":
            return [lambda body: {**body, name: "outside"}]
        if name in ("image_count", "size_bytes"):
            return [
                lambda body: {**body, name: 0},
                lambda body: {**body, name: 10**9},
                lambda body: {**body, name: 1.5},
            ]
        return []

    # What is referred to ------------------------------------------------------------------------------------------------

    def reference(self, kind: str) -> str:
        """Return an id of a kind: nearly always one that the Team can use, if there is one."""
        usable = self._model.ids(kind, self._team)
        if usable and self._chance.randrange(12):
            return self._chance.choice(usable)
        return self._chance.choice([*self._model.ids_ever(), "made-up"])

    def references(self, kind: str, least: int, most: int) -> list[str]:
        count = self._chance.randint(least, most)
        found = dict.fromkeys(self.reference(kind) for _ in range(count))
        usable = [identifier for identifier in self._model.ids(kind, self._team) if identifier not in found]
        missing = [f"missing-{number}" for number in range(least)]
        return [*found, *usable[: max(0, least - len(found))], *missing][: max(least, len(found))]

    def _text(self) -> str:
        return self._chance.choice(TEXTS)

    def _sometimes(self, **fields: Callable[[], Any]) -> Json:
        return {name: value() for name, value in fields.items() if self._chance.random() < 0.4}

    def _part_of(self, body: Json) -> Json:
        kept = {name: value for name, value in body.items() if self._chance.random() < 0.4}
        return kept or {"name": self._text()}

    # Bodies ---------------------------------------------------------------------------------------------------------------

    def _product(self) -> Json:
        photos = self.references("asset", 1, 3)
        texts = self._sometimes(description=self._text, dimensions=self._text)
        return {"name": self._text(), "asset_ids": photos, "primary_asset_id": self._chance.choice(photos), **texts}

    def _product_patch(self) -> Json:
        body = self._part_of(self._product())
        if "asset_ids" in body and "primary_asset_id" in body:
            body["primary_asset_id"] = self._chance.choice(body["asset_ids"])
        return body

    def _style(self) -> Json:
        body = {"name": self._text(), "asset_ids": self.references("asset", 3, 3)}
        return {**body, **self._sometimes(description=self._text)}

    def _background(self) -> Json:
        kind = self._chance.choice(("backdrop", "location"))
        return {"name": self._text(), "kind": kind, "asset_id": self.reference("asset")}

    def _pose(self) -> Json:
        body = {"name": self._text(), "asset_id": self.reference("asset")}
        return {**body, **self._sometimes(supported_camera_distances=self._distances)}

    def _distances(self) -> list[str]:
        return self._chance.sample(DISTANCES, self._chance.randint(1, 3))

    def _model_of_fashion(self) -> Json:
        return {
            "name": self._text(),
            "age_range": self._chance.choice(AGE_RANGES),
            "gender": self._chance.choice(("male", "female", "neutral")),
            "asset_ids": self.references("asset", 1, 5),
        }

    def _photography(self) -> Json:
        choose = self._chance.choice
        mode = choose(("single_shots", "photoshoot"))
        counts: Sequence[float] = (4, 4.0) if mode == "photoshoot" else (1, 2, 3.0, 6)
        body: Json = {"output_mode": mode}
        body.update(
            self._sometimes(
                product_ids=lambda: self.references("product", 0, 2),
                photography_style_id=lambda: self.reference("photography_style"),
                background=self._background_choice,
                fashion_model=self._model_choice,
                pose_id=lambda: self.reference("pose"),
                camera_distance=lambda: choose(DISTANCES),
                colorway=lambda: {"name": "Red", **self._sometimes(hex=lambda: choose(("#CC0011", "cc0011")))},
                custom_directions=self._text,
                image_count=lambda: choose(counts),
                aspect_ratio=lambda: choose(ASPECT_RATIOS),
                resolution=lambda: choose(("1k", "2k", "4k")),
                output_format=lambda: choose(("jpeg", "png", "webp")),
            )
        )
        if not body.get("product_ids") or choose((True, False)):
            body["asset_ids"] = self.references("asset", 1, 3)
        return body

    def _background_choice(self) -> Json:
        color = {"type": "color", "color": self._chance.choice(("#AABBCC", "aabbcc"))}
        chosen = {"type": "background", "background_id": self.reference("background")}
        return self._chance.choice(({"type": "automatic"}, {"type": "transparent"}, color, chosen))

    def _model_choice(self) -> Json:
        selected = {"type": "selected", "fashion_model_id": self.reference("fashion_model")}
        group = {"type": "group", "fashion_model_ids": self.references("fashion_model", 2, 3)}
        return self._chance.choice(({"type": "automatic"}, {"type": "none"}, selected, group))

    def _edit(self) -> Json:
        choose = self._chance.choice
        return {
            "asset_ids": self.references("asset", 1, 4),
            "instructions": self._text(),
            "aspect_ratio": choose(ASPECT_RATIOS),
            "resolution": choose(("1k", "2k", "4k")),
            "output_format": choose(("jpeg", "png", "webp")),
        }

    def _upscale(self) -> Json:
        choose, asset_id = self._chance.choice, self.reference("asset")
        formats = ("jpeg", "png", "webp")
        return {"asset_id": asset_id, "target_resolution": choose(("2k", "4k")), "output_format": choose(formats)}
