"""Explains in words what a validator of JSON Schema finds.

A schema may say in `x-expected` what it expects, where its keywords say it badly.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from image_workflow_emulator.documents.complaints import Misspelling, choice_of
from image_workflow_emulator.documents.schema_nodes import Schema, SchemaNodes
from image_workflow_emulator.documents.violations import REQUIRED, Steps, Violation
from image_workflow_emulator.kernel.wording import excerpt, first_of

EXPECTED: Final = "x-expected"
_MAX_LISTED_UNKNOWN: Final = 50
"""Limit of the reported unknown fields of one object."""
_KINDS_OF_VALUES: Final = ("type", "enum", "const")
"""The keywords that a value of another kind breaks."""


class _Failure(Struct, frozen=True):
    """What a validator says of one error."""

    keyword: str
    """The keyword that the value breaks."""
    details: Mapping[str, Any]
    """What the keyword itself says."""
    steps: Steps
    value: Any
    schema: Schema
    """The schema that has the keyword."""


class Explainer:
    """Explains the errors of validators of one document."""

    def __init__(self, nodes: SchemaNodes) -> None:
        self._nodes = nodes

    def explain(self, errors: Iterable[Any]) -> Iterator[Violation]:
        """Return the violations that some errors of jsonschema_rs stand for."""
        for error in errors:
            failure = _Failure(
                keyword=error.kind.name,
                details=error.kind.as_dict(),
                steps=tuple(error.instance_path),
                value=error.instance,
                schema=self._nodes.at(error.schema_path[:-1]),
            )
            yield from self._violations(failure)

    def _violations(self, failure: _Failure) -> Iterator[Violation]:
        match failure.keyword:
            case "oneOf" | "anyOf":
                return self._of_union(failure)
            case "additionalProperties":
                return _of_unknown_fields(failure)
            case _:
                return iter([self._violation(failure)])

    def _violation(self, failure: _Failure) -> Violation:
        steps = failure.steps
        expected = _expectation(failure.keyword, failure.schema)
        match failure.keyword:
            case "required":
                place = (*steps, failure.details["property"])
                return Violation(place, "nothing", REQUIRED, kind="missing")
            case "propertyNames":
                return self._of_name(failure, expected)
            case "not":
                return Violation(steps, "this field", expected, kind="unknown")
            case "minProperties" | "maxProperties":
                return Violation(steps, _fields_of(failure.value), expected)
        words = self._nodes.words(failure.schema)
        return _of_wrong_value(steps, failure.value, expected, words)

    def _of_name(self, failure: _Failure, expected: str) -> Violation:
        """Explain a field by its name, which cannot be there."""
        name = failure.details["error"].instance
        return Violation(
            steps=(*failure.steps, name),
            found=f"the name {excerpt(name)}",
            expected=expected,
            misspelling=Misspelling(name, self._nodes.words(failure.schema)),
            kind="unknown",
        )

    def _of_union(self, failure: _Failure) -> Iterator[Violation]:
        """Explain a value by the branch that was meant: that of its tag, or the only
        one for its type.
        """
        tag = failure.schema.get("discriminator")
        places = [failure.steps]
        if tag is not None:
            places.append((*failure.steps, tag["propertyName"]))
        errors_of_branches = failure.details.get("context", ())
        errors_of_meant = [
            errors
            for errors in errors_of_branches
            if not _is_of_another_kind(errors, places)
        ]
        if isinstance(failure.value, dict | list) and len(errors_of_meant) == 1:
            return self.explain(errors_of_meant[0])
        if tag is not None and isinstance(failure.value, dict):
            return iter([_of_tag(failure, tag)])
        words = self._nodes.words(failure.schema)
        expected = failure.schema.get(EXPECTED) or choice_of(words, "an object")
        violation = _of_wrong_value(failure.steps, failure.value, expected, words)
        return iter([violation])


def _of_tag(failure: _Failure, tag: Mapping[str, Any]) -> Violation:
    """Explain an object by its tag, which names no branch."""
    name = tag["propertyName"]
    place = (*failure.steps, name)
    words = tag["mapping"]
    expected = choice_of(words)
    if name not in failure.value:
        return Violation(place, "nothing", expected, kind="missing")
    return _of_wrong_value(place, failure.value[name], expected, words)


def _of_wrong_value(
    steps: Steps,
    value: object,
    expected: str,
    words: Iterable[str],
) -> Violation:
    """Explain a value by what is expected; `words` are the texts that may be meant."""
    misspelling = None
    if isinstance(value, str):
        misspelling = Misspelling(value, tuple(words))
    return Violation(steps, excerpt(value), expected, misspelling)


def _of_unknown_fields(failure: _Failure) -> Iterator[Violation]:
    """Explain the fields of an object that it cannot have."""
    possible = tuple(failure.schema.get("properties", ()))
    expected = failure.schema.get(EXPECTED, "no fields")
    if possible:
        expected = f"only {', '.join(possible)}"
    absent = tuple(name for name in possible if name not in failure.value)
    unknown_names = failure.details["unexpected"]
    for name in unknown_names[:_MAX_LISTED_UNKNOWN]:
        yield Violation(
            steps=(*failure.steps, name),
            found="an unknown field",
            expected=expected,
            misspelling=Misspelling(name, candidates=absent, second_choice=possible),
            kind="unknown",
        )


def _fields_of(value: Mapping[str, Any]) -> str:
    if not value:
        return "no fields"
    return f"the fields {first_of(value)}"


def _is_of_another_kind(errors: Sequence[Any], places: Collection[Steps]) -> bool:
    """Tell whether the errors of a branch say that the value at a place is of another
    kind than the branch.
    """
    return any(
        tuple(error.instance_path) in places and error.kind.name in _KINDS_OF_VALUES
        for error in errors
    )


# What a keyword asks for ------------------------------------------------------------

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


def _expectation(keyword: str, schema: Schema) -> str:
    """Say in words what a keyword of a schema asks for."""
    if EXPECTED in schema:
        return str(schema[EXPECTED])
    is_bounded = "minimum" in schema and "maximum" in schema
    if is_bounded and schema.get("type") == "integer":
        return f"a whole number from {schema['minimum']} to {schema['maximum']}"
    limit = schema.get(keyword)
    if keyword == "type":
        return _type_words(limit)
    limit_words = limit
    if isinstance(limit, list):
        limit_words = ", ".join(map(str, limit))
    template = _EXPECTATIONS.get(keyword, f"what the contract's {keyword} allows")
    words = template.format(limit_words)
    if limit != 1 and words.endswith((" item", " character")):
        return f"{words}s"
    return words


def _type_words(types: object) -> str:
    """Name the types that a schema takes."""
    names = [str(types)]
    if isinstance(types, list):
        names = types
    return " or ".join(_TYPES[name] for name in names)
