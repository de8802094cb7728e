"""What random clients send: bodies that are right, as the contract has their fields, and the same made wrong on
purpose.

What a right body refers to is mostly there, and now and then deleted, another Team's or made up.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.model.arithmetic import Json
from tests.model.service_model import ServiceModel
from tests.support.contract_check import shipped_checker

TEXTS: Final = ("Linen shirt", "Ärmel", "x")
COLORS: Final = ("#CC0011", "cc0011")
MAX_REFERENCES: Final = 4
"""In a list that may have any number, or more than those."""


def without(name: str) -> Callable[[Json], Json]:
    return lambda body: {field: value for field, value in body.items() if field != name}


class RandomBodies:
    def __init__(self, chance: Random, model: ServiceModel, team: str) -> None:
        self._chance = chance
        self._model = model
        self._team = team

    def body(self, operation: str) -> Json:
        """Return a right body: what the contract requires, some of the rest, and all of it in agreement with each
        other.
        """
        body = self._object(shipped_checker().body_schema(operation))
        if "primary_asset_id" in body and "asset_ids" in body:
            body["primary_asset_id"] = self._chance.choice(body["asset_ids"])
        if "output_mode" in body:
            if not body.get("product_ids") and not body.get("asset_ids"):
                body["asset_ids"] = self.references("asset", 1, MAX_REFERENCES)
            if "image_count" in body:
                is_photoshoot = body["output_mode"] == "photoshoot"
                body["image_count"] = self._chance.choice((4, 4.0) if is_photoshoot else (1, 2, 3.0, 6))
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
            return self.references(name.removesuffix("_ids"), schema.get("minItems", 0), most)
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
        return schema.get("const") or choose(COLORS if name in ("color", "hex") else TEXTS)

    def spoiled(self, operation: str, body: Json) -> Any:
        ways: list[Callable[[Json], Any]] = [
            lambda body: {**body, "shade": "pale"},
            lambda body: {**body, self._chance.choice(sorted(body)): None},
            lambda body: {**body, self._chance.choice(sorted(body)): {"no": 1}},
            lambda body: [body],
        ]
        ways += [without(name) for name in shipped_checker().body_schema(operation).get("required", ())]
        if operation.startswith("update"):
            ways.append(lambda _: {})
        return self._chance.choice(ways)(body)

    # What is referred to ----------------------------------------------------------------------------------------------

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
