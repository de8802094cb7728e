"""Plain data to JSON and back, led by type annotations: frozen dataclasses, named tuples, tuples, lists, dicts, bytes.

Owns the form of values in state files, and complains about what does not fit with the place and what was expected.
Must not know what the values mean; the one exception is a picture's recipe, which is tagged where its type is open.
"""

import dataclasses
import types
import typing
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable
from typing import Any, Literal, TypeVar, Union

from emulator.domain.problems import pointer
from emulator.domain.recipes import Recipe, recipe_from_dict, recipe_to_dict

Value = TypeVar("Value")

_RECIPE = "$recipe"
_RECIPES = typing.get_args(Recipe)


class CodecError(ValueError):
    """A value does not have the type that its place needs; the text says where, what was found, what was expected."""


def encode(value: object) -> Any:
    """Return a value as JSON data."""
    if isinstance(value, _RECIPES):
        return {_RECIPE: recipe_to_dict(value)}
    if dataclasses.is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, dict):
        return {str(name): encode(item) for name, item in value.items()}
    if isinstance(value, list | tuple | deque):
        return [encode(item) for item in value]
    return value


def decode(kind: type[Value], data: object, where: str = "state") -> Value:
    """Return JSON data as a value of a type.

    Raises:
        CodecError: it is not one.
    """
    value: Value = _decode(kind, data, where)
    return value


def _decode(kind: Any, data: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return _decode_open(data, where)
    if origin in (Union, types.UnionType):
        return _decode_union(arguments, data, where)
    if origin is Literal:
        return _check(data in arguments, data, where, f"one of {', '.join(map(str, arguments))}")
    if origin is tuple:
        return _decode_tuple(arguments, data, where)
    if origin in (list, deque):
        return origin(_decode(arguments[0], item, f"{where}/{index}") for index, item in enumerate(_list(data, where)))
    if origin is dict:
        _check(isinstance(data, dict), data, where, "an object")
        return {
            _decode(arguments[0], name, where): _decode(arguments[1], item, where + pointer(name))
            for name, item in data.items()
        }
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, data, where)
    if isinstance(kind, type) and issubclass(kind, tuple):
        hints = typing.get_type_hints(kind)
        return kind(*_decode_tuple(tuple(hints.values()), data, where))
    return _decode_scalar(kind, data, where)


def _decode_scalar(kind: Any, data: Any, where: str) -> Any:
    if kind is bytes:
        try:
            return b64decode(_check(isinstance(data, str), data, where, "base64"), validate=True)
        except ValueError:
            raise CodecError(f"{where}: expected base64") from None
    if kind is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    expected = {type(None): "null"}.get(kind, getattr(kind, "__name__", str(kind)))
    return _check(type(data) is kind, data, where, expected)


def _decode_open(data: Any, where: str) -> Any:
    if isinstance(data, dict) and data.keys() == {_RECIPE}:
        try:
            recipe = recipe_from_dict(data[_RECIPE])
            _check(all(isinstance(key, str) for key in recipe.inputs), recipe.inputs, where, "the keys of pictures")
            return recipe
        except (ValueError, AttributeError) as error:
            raise CodecError(f"{where}: {error}") from None
    return data


def _decode_union(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in kinds:
        return None
    if set(kinds) >= set(_RECIPES):
        return _check(isinstance(recipe := _decode_open(data, where), _RECIPES), recipe, where, "a recipe")
    first: CodecError | None = None
    for kind in kinds:
        if kind is not type(None):
            try:
                return _decode(kind, data, where)
            except CodecError as error:
                first = first or error
    raise first or CodecError(f"{where}: expected null")


def _decode_tuple(kinds: tuple[Any, ...], data: Any, where: str) -> tuple[Any, ...]:
    items = _list(data, where)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(items)
    _check(len(items) == len(kinds), items, where, f"{len(kinds)} items")
    return tuple(
        _decode(kind, item, f"{where}/{index}") for index, (kind, item) in enumerate(zip(kinds, items, strict=True))
    )


def _decode_dataclass(kind: Any, data: Any, where: str) -> Any:
    _check(isinstance(data, dict), data, where, "an object")
    hints = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]
    _check(data.keys() == set(names), sorted(data), where, f"the fields {', '.join(names)}")
    values = {name: _decode(hints[name], data[name], f"{where}/{name}") for name in names}
    try:
        make: Callable[..., Any] = kind
        return make(**values)
    except ValueError as error:  # pragma: no cover (of all that is kept, recipes alone check their values)
        raise CodecError(f"{where}: {error}") from None


def _list(data: Any, where: str) -> list[Any]:
    _check(isinstance(data, list), data, where, "an array")
    items: list[Any] = data
    return items


def _check(holds: bool, data: Any, where: str, expected: str) -> Any:
    if not holds:
        raise CodecError(f"{where}: found {str(data)[:60]!r}; expected {expected}")
    return data
