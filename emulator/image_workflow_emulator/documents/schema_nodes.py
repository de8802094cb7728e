"""The schemas of one document, found by their references and places."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]


class SchemaNodes:
    """The schemas of one document of JSON Schema."""

    def __init__(self, document: Schema) -> None:
        self._document = document

    def at(self, steps: Sequence[str | int]) -> Schema:
        """Return the schema at a place; an empty one if there is none."""
        node: Any = self._document
        for step in steps:
            node = node[step]
        if not isinstance(node, Mapping):
            return {}
        return node

    def resolved(self, schema: Schema) -> Schema:
        """Follow the references of a schema."""
        while "$ref" in schema:
            _, *steps = schema["$ref"].split("/")
            schema = self.at(steps)
        return schema

    def words(self, schema: Schema) -> tuple[str, ...]:
        """Return the words that a schema takes, those of its branches included."""
        return tuple(self._words(schema))

    def _words(self, schema: Schema) -> Iterator[str]:
        schema = self.resolved(schema)
        values = [*schema.get("enum", ()), schema.get("const")]
        for value in values:
            if isinstance(value, str):
                yield value
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        for branch in branches:
            yield from self._words(branch)
