"""JSON Schema: whether a value has the shape that a schema asks for, and what it means.

Owns the validators of the schemas of one document. Must not know which schemas there
are, nor what becomes of a violation.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import islice
from typing import Any, Final

from image_workflow_emulator.documents.explaining import Explainer
from image_workflow_emulator.documents.schema_nodes import Schema, SchemaNodes
from image_workflow_emulator.documents.values import FORMATS
from image_workflow_emulator.documents.violations import Violation

LARGE_BODY_BYTES: Final = 2048
"""For a larger body, only the first violation is reported."""
MANY_VALUES: Final = 4_000
"""For a document with more values, only the first violation is reported."""
MAX_COMPLAINTS: Final = 100
"""Limit of the complaints about one document or body, but for one that says that there
are more."""
_URN: Final = "urn:document"


class Schemas:
    """The schemas of one document."""

    def __init__(
        self,
        document: dict[str, Any],
        formats: Mapping[str, Callable[[str], Any]] = FORMATS,
    ) -> None:
        """`formats` are parsers by the name of their `format`; others are no checks."""
        self._document = document
        self._nodes = SchemaNodes(document)
        self._explainer = Explainer(self._nodes)
        self._formats = formats

    def value(self, reference: str, data: Any) -> Any:
        """Return what data means that fits a schema: in place of each text what its
        `format` makes of it.

        A number becomes a text where the schema takes texts, and no whole numbers.
        """
        return self._value({"$ref": reference}, data)

    def _value(self, schema: Any, data: Any) -> Any:
        if not isinstance(schema, dict):
            return data  # of which the schema says nothing
        schema = self._nodes.resolved(schema)
        branches = map(self._nodes.resolved, schema.get("oneOf", ()))
        schemas = [schema, *branches]
        if isinstance(data, dict):
            return self._object(schemas, data)
        if isinstance(data, list | tuple):
            return self._array(schemas, data)
        return self._scalar(schemas, data)

    def _object(
        self,
        schemas: Sequence[Schema],
        data: dict[str, Any],
    ) -> dict[str, Any]:
        field_schemas: dict[str, Any] = {}
        for schema in schemas:
            field_schemas.update(schema.get("properties", {}))
        other_fields = schemas[0].get("additionalProperties")
        return {
            name: self._value(field_schemas.get(name, other_fields), value)
            for name, value in data.items()
        }

    def _array(self, schemas: Sequence[Schema], data: Sequence[Any]) -> list[Any]:
        item_schemas = [schema["items"] for schema in schemas if "items" in schema]
        if not item_schemas:
            return list(data)
        return [self._value(item_schemas[0], item) for item in data]

    def _scalar(self, schemas: Sequence[Schema], data: Any) -> Any:
        text = _text_of(data)
        for schema in schemas:
            parse = self._formats.get(schema.get("format", ""))
            if parse is not None:
                return parse(text)
        types = schemas[0].get("type", ())
        if "integer" in types:
            return int(text)
        if "string" in types and data is not None:
            return text
        return data

    def violations(
        self,
        reference: str,
        value: object,
        first_only: bool = False,
    ) -> list[Violation]:
        """Return the ways in which a value breaks the schema of a reference such as
        `#/$defs/world`, by place.

        To find all takes 50 µs for each: ask for the first one only in a large value
        from a client.
        """
        validator = self._validator(reference)
        try:
            validator.validate(value)
        except ValueError as first:
            errors: Iterable[ValueError] = [first]
        else:
            return []
        if not first_only:
            errors = validator.iter_errors(value)
        explained = self._explainer.explain(islice(errors, MAX_COMPLAINTS + 1))
        first_violations = islice(explained, MAX_COMPLAINTS + 1)
        distinct_violations = dict.fromkeys(first_violations)
        return sorted(distinct_violations, key=_order)

    @cached_property
    def _validator(self) -> Callable[[str], Any]:
        """What makes the validator of a reference, once."""
        # Imported when the first value comes: 20 ms that a server which is starting
        # need not spend.
        from jsonschema_rs import Draft202012, Draft202012Validator, Registry

        registry = Registry([(_URN, self._document)], draft=Draft202012)
        formats: dict[str, Callable[..., bool]] = {
            name: partial(_can_parse, parse) for name, parse in self._formats.items()
        }

        @cache
        def validator(reference: str) -> Any:
            return Draft202012Validator(
                {"$ref": _URN + reference},
                registry=registry,
                formats=formats,
                validate_formats=bool(formats),
            )

        return validator


def _text_of(data: Any) -> str:
    """Write a scalar as a file has it; `2.0` is a whole number."""
    if isinstance(data, str):
        return data
    if isinstance(data, float) and data.is_integer():
        return str(int(data))
    return json.dumps(data)


def _order(violation: Violation) -> list[tuple[bool, str | int]]:
    """Order violations by their places: indexes before names."""
    return [(isinstance(step, str), step) for step in violation.steps]


def _can_parse(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
