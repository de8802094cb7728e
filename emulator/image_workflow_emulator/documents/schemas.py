"""JSON Schema: whether a value has the shape that a schema asks for, and in words what does not fit.

Owns the validators of a document's schemas and the wording of what they find. A schema may say in `x-expected` what it
expects, where its keywords say it badly. Must not know which schemas there are, nor what becomes of a violation.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from itertools import islice
from typing import Any, Final, TypeAlias

from msgspec import Struct

from image_workflow_emulator.documents.complaints import (
    Misspelling,
    choice_of,
    clause,
    sentence,
)
from image_workflow_emulator.documents.values import FORMATS, MAX_NAME_CHARACTERS
from image_workflow_emulator.kernel.wording import excerpt, first_of, pointer

Steps: TypeAlias = tuple[str | int, ...]
"""The way to a place in a value: names of fields and indexes of items."""

EXPECTED: Final = "x-expected"
LARGE_BODY_BYTES: Final = 2048
"""For a larger body, only the first violation is reported."""
MANY_VALUES: Final = 4_000
"""For a document with more values, only the first violation is reported."""
MAX_COMPLAINTS: Final = 100
"""Limit of the complaints about one document or body, but for one that says that there are more."""
MAX_LISTED_VIOLATIONS: Final = 10
"""Limit of the reported violations of one body."""
_URN: Final = "urn:document"
_REQUIRED: Final = "this required field"
_MAX_SHOWN_UNKNOWN: Final = 50
"""Limit of the reported unknown fields of one object."""


class Violation(Struct, frozen=True):
    """One way in which a value breaks a schema: where, what is there, what should be, which word may be meant.

    `kind` tells a field that is `missing`, and one that is `unknown` there, from a value that does not fit (`invalid`).
    """

    steps: Steps
    found: str
    expected: str
    misspelling: Misspelling | None = None
    kind: str = "invalid"

    def suggestions(self) -> tuple[str, ...]:
        """Return the word that was most likely meant, if one is near."""
        if self.misspelling is None:
            return ()
        return self.misspelling.suggestions()

    @property
    def where(self) -> str:
        """The JSON Pointer of the place."""
        return place_of(self.steps)

    def __str__(self) -> str:
        return f"{self.where or '(body)'}: {clause(self.found, self.expected, self.suggestions())}"

    @property
    def remedy(self) -> str:
        """What to change, as an instruction."""
        if self.kind == "unknown":
            return f"remove {self.where}"
        verb, where = (
            "add" if self.kind == "missing" else "correct",
            self.where or "the body",
        )
        return (
            f"{verb} {where}"
            if self.expected == _REQUIRED
            else f"{verb} {where}: expected {self.expected}"
        )


def place_of(steps: Steps) -> str:
    """Write the JSON Pointer of a place, with what is long of its names left out."""
    return pointer(
        *(
            step[:MAX_NAME_CHARACTERS] if isinstance(step, str) else step
            for step in steps
        )
    )


def listed(violations: Sequence[Violation]) -> str:
    """List violations, as many as a message of reasonable length holds."""
    shown = [str(violation) for violation in violations[:MAX_LISTED_VIOLATIONS]]
    more = len(violations) - MAX_LISTED_VIOLATIONS
    if more > 0:
        shown.append(f"And {more} more")
    return " ".join([*map(sentence, shown[:-1]), *shown[-1:]])


class Schemas:
    """The schemas of one document. `formats` are parsers by the name of their `format`; others are no checks."""

    def __init__(
        self,
        document: dict[str, Any],
        formats: Mapping[str, Callable[[str], Any]] = FORMATS,
    ) -> None:
        self._document = document
        self._formats = formats

    def value(self, reference: str, data: Any) -> Any:
        """Return what data means that fits a schema: in place of each text what its `format` makes of it.

        A number becomes a text where the schema takes texts, and no whole numbers.
        """
        return self._value({"$ref": reference}, data)

    def _value(self, schema: Any, data: Any) -> Any:
        if not isinstance(schema, dict):
            return data  # of which the schema says nothing
        schema = self._resolved(schema)
        parts = [schema, *map(self._resolved, schema.get("oneOf", ()))]
        if isinstance(data, dict):
            known = {
                name: inner
                for part in parts
                for name, inner in part.get("properties", {}).items()
            }
            other = schema.get("additionalProperties")
            return {
                name: self._value(known.get(name, other), inner)
                for name, inner in data.items()
            }
        if isinstance(data, list | tuple):
            items: Any = next(
                (part["items"] for part in parts if "items" in part), None
            )
            return [self._value(items, item) for item in data]
        text = str(int(data)) if isinstance(data, float) and data.is_integer() else data
        text = text if isinstance(text, str) else json.dumps(text)
        for part in parts:
            if part.get("format") in self._formats:
                return self._formats[part["format"]](text)
        if "integer" in schema.get("type", ()):
            return int(text)
        return text if "string" in schema.get("type", ()) and data is not None else data

    def violations(
        self, reference: str, value: object, first_only: bool = False
    ) -> list[Violation]:
        """Return the ways in which a value breaks the schema of a reference such as `#/$defs/world`, by place.

        To find all takes 50 µs for each: ask for the first one only in a large value from a client.
        """
        validator = self._validator(reference)
        try:
            validator.validate(value)
        except ValueError as first:
            errors = [first] if first_only else validator.iter_errors(value)
        else:
            return []
        explained = self._explain_all(islice(errors, MAX_COMPLAINTS + 1))
        found = dict.fromkeys(islice(explained, MAX_COMPLAINTS + 1))
        return sorted(
            found,
            key=lambda violation: [
                (isinstance(step, str), step) for step in violation.steps
            ],
        )

    @cached_property
    def _validator(self) -> Callable[[str], Any]:
        """What makes the validator of a reference, once."""
        # Imported when the first value comes: 20 ms that a server which is starting need not spend.
        from jsonschema_rs import Draft202012, Draft202012Validator, Registry

        registry = Registry([(_URN, self._document)], draft=Draft202012)
        formats = {
            name: partial(_holds, parse) for name, parse in self._formats.items()
        }
        options: dict[str, Any] = {
            "registry": registry,
            "formats": formats,
            "validate_formats": bool(formats),
        }
        return cache(
            lambda reference: Draft202012Validator(
                {"$ref": _URN + reference}, **options
            )
        )

    def _explain(self, error: Any) -> Iterator[Violation]:
        keyword, steps, value = (
            error.kind.name,
            tuple(error.instance_path),
            error.instance,
        )
        details, schema = error.kind.as_dict(), self._schema_at(error.schema_path[:-1])
        expected = _expectation(keyword, schema)
        match keyword:
            case "oneOf" | "anyOf":
                yield from self._explain_union(
                    steps, value, schema, details.get("context", ())
                )
            case "required":
                yield Violation(
                    (*steps, details["property"]), "nothing", _REQUIRED, kind="missing"
                )
            case "additionalProperties":
                yield from _explain_unknown(steps, schema, details["unexpected"], value)
            case "propertyNames":
                name = details["error"].instance
                meant = Misspelling(name, self._words(schema))
                yield Violation(
                    (*steps, name),
                    f"the name {excerpt(name)}",
                    expected,
                    meant,
                    "unknown",
                )
            case "not":
                yield Violation(steps, "this field", expected, kind="unknown")
            case "minProperties" | "maxProperties":
                found = f"the fields {first_of(value)}" if value else "no fields"
                yield Violation(steps, found, expected)
            case _:
                misspelling = _misspelling(value, self._words(schema))
                yield Violation(steps, excerpt(value), expected, misspelling)

    def _explain_union(
        self,
        steps: Steps,
        value: Any,
        schema: Mapping[str, Any],
        branches: Sequence[Sequence[Any]],
    ) -> Iterator[Violation]:
        """Say what is wrong by the branch that was meant: that of the value's tag, or the only one for its type."""
        tag, words = schema.get("discriminator"), self._words(schema)
        places = [steps] if tag is None else [steps, (*steps, tag["propertyName"])]
        meant = [
            errors
            for errors in branches
            if not any(_is_of_another_kind(error, places) for error in errors)
        ]
        if isinstance(value, dict | list) and len(meant) == 1:
            yield from self._explain_all(meant[0])
        elif tag is not None and isinstance(value, dict):
            given, known = value.get(tag["propertyName"]), tag["mapping"]
            found, kind = (
                (excerpt(given), "invalid")
                if tag["propertyName"] in value
                else ("nothing", "missing")
            )
            yield Violation(
                places[1], found, choice_of(known), _misspelling(given, known), kind
            )
        else:
            expected = schema.get(EXPECTED) or choice_of(words, "an object")
            yield Violation(steps, excerpt(value), expected, _misspelling(value, words))

    def _explain_all(self, errors: Iterable[Any]) -> Iterator[Violation]:
        return (violation for error in errors for violation in self._explain(error))

    def _words(self, schema: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the words that a schema takes, those of its branches included."""
        schema = self._resolved(schema)
        values = [*schema.get("enum", ()), schema.get("const")]
        words = [value for value in values if isinstance(value, str)]
        for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            words += self._words(branch)
        return tuple(words)

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in schema:
            schema = self._schema_at(schema["$ref"].split("/")[1:])
        return schema

    def _schema_at(self, steps: Sequence[str | int]) -> Mapping[str, Any]:
        node: Any = self._document
        for step in steps:
            node = node[step]
        return node if isinstance(node, dict) else {}


def _holds(parse: Callable[[str], object], text: str) -> bool:
    with suppress(ValueError):
        parse(text)
        return True
    return False


def _misspelling(value: object, words: Iterable[str]) -> Misspelling | None:
    return Misspelling(value, tuple(words)) if isinstance(value, str) else None


def _explain_unknown(
    steps: Steps,
    schema: Mapping[str, Any],
    names: Sequence[str],
    given: Collection[str],
) -> Iterator[Violation]:
    known = schema.get("properties", {})
    expected = (
        f"only {', '.join(known)}" if known else schema.get(EXPECTED, "no fields")
    )
    free = tuple(name for name in known if name not in given)
    for name in names[:_MAX_SHOWN_UNKNOWN]:
        meant = Misspelling(name, free, tuple(known))
        yield Violation(
            (*steps, name), "an unknown field", expected, meant, kind="unknown"
        )


def _is_of_another_kind(error: Any, places: Collection[Steps]) -> bool:
    """Tell whether an error says that the value at a place is of another type than a branch of a union."""
    return tuple(error.instance_path) in places and error.kind.name in (
        "type",
        "enum",
        "const",
    )


_TYPES: Final = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
_EXPECTATIONS: Final = {
    "const": "{}",
    "enum": "one of {}",
    "pattern": "text that matches {}",
    "uniqueItems": "no item twice",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} item",
    "maxItems": "at most {} item",
    "minLength": "at least {} character",
    "minProperties": "at least {} field to change",
}


def _expectation(keyword: str, schema: Mapping[str, Any]) -> str:
    """Say in words what a keyword of a schema asks for."""
    if EXPECTED in schema:
        return str(schema[EXPECTED])
    limit = schema.get(keyword)
    if schema.get("type") == "integer" and "minimum" in schema and "maximum" in schema:
        return f"a whole number from {schema['minimum']} to {schema['maximum']}"
    if keyword == "type":
        return " or ".join(
            _TYPES[name]
            for name in (limit if isinstance(limit, list) else [str(limit)])
        )
    shown = ", ".join(map(str, limit)) if isinstance(limit, list) else limit
    words = _EXPECTATIONS.get(keyword, f"what the contract's {keyword} allows").format(
        shown
    )
    return (
        f"{words}s" if limit != 1 and words.endswith((" item", " character")) else words
    )
