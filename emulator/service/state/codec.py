"""Plain data as JSON and back, led by type annotations (cattrs): the form of values in state files.

Reads strictly: every field must be there and no other, and a value must have the type of its place. Whole numbers are
not negative. Must not know what the values mean. Imported when a state file is written or read.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Set
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from cattrs import AttributeValidationNote, BaseValidationError, ClassValidationError, Converter, IterableValidationNote
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    is_namedtuple,
    list_structure_factory,
    namedtuple_structure_factory,
)
from cattrs.gen import make_dict_structure_fn
from cattrs.strategies import configure_tagged_union
from msgspec import Struct

from emulator.domain.recipes import RECIPE_KINDS, Recipe
from emulator.kernel.clock import Clock, ClockSetting
from emulator.kernel.wording import excerpt, pointer
from emulator.scenario.scenario import NO_SCENARIO, Scenario
from emulator.service.journal import Journal

Value = TypeVar("Value")
ScenarioReader = Callable[[str, str], Scenario]
"""Reads a scenario from its text and file name. Raises ValueError."""

LARGEST_COUNT = 2**63 - 1


class CodecError(ValueError):
    """A value of the wrong type; the message says where, what was found and what was expected."""


class Codec:
    """Values to JSON data and back; `read_scenario` makes scenarios of their texts."""

    def __init__(self, read_scenario: ScenarioReader) -> None:
        self._converter = converter = Converter(forbid_extra_keys=True)
        converter.register_structure_hook_factory(is_dataclass, self._strict)
        converter.register_structure_hook_factory(_is_struct, self._struct_reader)
        converter.register_unstructure_hook_factory(_is_struct, self._struct_writer)
        for kind, read in _READERS.items():
            converter.register_structure_hook(kind, read)
        converter.register_unstructure_hook(bytes, lambda data: b64encode(data).decode())
        converter.register_structure_hook_func(lambda kind: _origin(kind) is Literal, _read_word)
        for is_array, factory in _ARRAYS:
            converter.register_structure_hook_factory(is_array, _array_reader(factory))
        configure_tagged_union(Recipe, converter, tag_name="recipe")
        read_recipe = converter.get_structure_hook(Recipe)
        converter.register_structure_hook(Recipe, lambda data, kind: read_recipe(_tagged(data), kind))
        recipe, optional = cast("Any", Recipe), cast("Any", Recipe | None)  # cattrs takes it for a union of its own
        converter.register_structure_hook(
            optional, lambda data, _: None if data is None else converter.structure(data, recipe)
        )
        converter.register_unstructure_hook(optional, lambda value: value and converter.unstructure(value, recipe))
        converter.register_unstructure_hook(Clock, lambda clock: converter.unstructure((clock.setting, clock.now())))
        converter.register_structure_hook(
            Clock, lambda data, _: Clock(*converter.structure(data, tuple[ClockSetting, int]))
        )
        converter.register_unstructure_hook(Journal, lambda journal: journal.last_sequence)
        converter.register_structure_hook(Journal, lambda data, _: Journal(last_sequence=_read_integer(data, int)))
        converter.register_structure_hook(Scenario, lambda data, _: _read_scenario(data, read_scenario))
        converter.register_unstructure_hook(Scenario, _write_scenario)

    def write(self, value: object, kind: Any = None) -> Any:
        """Return a value as JSON data."""
        return self._converter.unstructure(value, kind)

    def read(self, kind: type[Value], data: object, where: str) -> Value:
        """Return JSON data as a value of a type. Raises CodecError."""
        try:
            return self._converter.structure(data, kind)
        except Exception as error:
            raise CodecError(_located(error, where)) from None

    def _strict(self, kind: Any) -> Callable[[Any, Any], Any]:
        """Make the reader of a dataclass: one that leaves nothing to defaults."""
        read = make_dict_structure_fn(kind, self._converter)
        names = {field.name for field in fields(kind) if field.init}

        def read_strictly(data: Any, _: Any) -> Any:
            _check_names(data, names)
            return read(data, kind)

        return read_strictly

    def _struct_reader(self, kind: Any) -> Callable[[Any, Any], Any]:
        """Make the reader of a Struct, which cattrs does not know."""
        types = get_type_hints(kind)
        readers = {
            name: (self._converter.get_structure_hook(types[name]), types[name]) for name in kind.__struct_fields__
        }

        def read(data: Any, _: Any) -> Any:
            _check_names(data, readers.keys())
            values = {}
            for name, (read_value, type_) in readers.items():
                try:
                    values[name] = read_value(data[name], type_)
                except Exception as error:
                    error.add_note(AttributeValidationNote(f"field {name}", name, type_))
                    raise ClassValidationError(kind.__name__, [error], kind) from None
            return kind(**values)

        return read

    def _struct_writer(self, kind: Any) -> Callable[[Any], Any]:
        types, names, write = get_type_hints(kind), kind.__struct_fields__, self._converter.unstructure
        return lambda value: {name: write(getattr(value, name), types[name]) for name in names}


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _check_names(data: Any, names: Set[str]) -> None:
    """Check that an object has all its fields, and no other."""
    _check(isinstance(data, dict), data, "an object")
    missing, unknown = sorted(names - data.keys()), sorted(data.keys() - names)
    if missing or unknown:
        raise ValueError(
            f"expected the field {missing[0]}" if missing else f"found an unknown field {excerpt(unknown[0])}"
        )


def _origin(kind: Any) -> Any:
    """Return what `get_origin` does, in a type that mypy lets be compared with any other."""
    return get_origin(kind)


def _is_homogeneous_tuple(kind: Any) -> bool:
    """Tell whether a type is a tuple of any number of items of one type."""
    return _origin(kind) is tuple and get_args(kind)[-1] is Ellipsis


def _check(holds: bool, found: object, expected: str) -> None:
    if not holds:
        raise ValueError(f"found {excerpt(found)}; expected {expected}")


def _scalar(kind: type, expected: str) -> Callable[[Any, Any], Any]:
    def read(data: Any, _: Any) -> Any:
        _check(type(data) is kind, data, expected)
        return data

    return read


def _array_reader(factory: Any) -> Any:
    """Let cattrs read an array, and nothing else that has items."""

    def reader(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
        read = factory(kind, converter)

        def read_array(data: Any, _: Any) -> Any:
            _check(isinstance(data, list), data, "an array")
            return read(data, kind)

        return read_array

    return reader


def _tagged(data: Any) -> Any:
    tag = data.get("recipe") if isinstance(data, dict) else None
    is_kind = isinstance(tag, str) and tag in RECIPE_KINDS
    _check(is_kind, data if tag is None else tag, f"a recipe, one of {', '.join(RECIPE_KINDS)}")
    return data


def _read_word(data: Any, kind: Any) -> Any:
    words = get_args(kind)
    _check(isinstance(data, str) and data in words, data, f"one of {', '.join(words)}")
    return data


def _read_integer(data: Any, _: Any) -> int:
    _check(type(data) is int and 0 <= data <= LARGEST_COUNT, data, "a whole number that is not negative")
    return int(data)


def _read_number(data: Any, _: Any) -> float:
    _check(type(data) in (int, float), data, "a number")
    return float(data)


def _read_bytes(data: Any, _: Any) -> bytes:
    _check(type(data) is str and data.isascii(), data, "base64")
    return b64decode(data, validate=True)


_ARRAYS = (
    (is_namedtuple, namedtuple_structure_factory),
    (_is_homogeneous_tuple, homogenous_tuple_structure_factory),
    (lambda kind: _origin(kind) is list, list_structure_factory),
)
_READERS = {
    int: _read_integer,
    float: _read_number,
    str: _scalar(str, "a string"),
    bool: _scalar(bool, "true or false"),
    bytes: _read_bytes,
}


def _write_scenario(scenario: Scenario) -> dict[str, str] | None:
    return None if scenario == NO_SCENARIO else {"text": scenario.text, "file": scenario.file}


def _read_scenario(data: Any, read_scenario: ScenarioReader) -> Scenario:
    if data is None:
        return NO_SCENARIO
    is_text = (
        isinstance(data, dict)
        and data.keys() == {"text", "file"}
        and all(type(value) is str for value in data.values())
    )
    _check(is_text, data, "the text and the file name of a scenario")
    return read_scenario(data["text"], data["file"])


def _located(error: BaseException, where: str) -> str:
    """Say what is wrong and where: cattrs nests its errors, each with notes of the steps that led to it."""
    while isinstance(error, BaseValidationError):
        error = error.exceptions[0]
        for note in getattr(error, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                where += pointer(note.name)
            elif isinstance(note, IterableValidationNote):
                where += pointer(note.index)
    what = str(error) if isinstance(error, ValueError) else f"this cannot be read: {error}"
    return f"{where}: {what}"
