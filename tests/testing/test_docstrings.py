"""The docstrings of `image_workflow_emulator.testing`: complete, and true."""

import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

from image_workflow_emulator import testing

PUBLIC = {name: value for name, value in vars(testing).items() if callable(value)}


def examples() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder()
    for name, value in PUBLIC.items():
        for docstring in finder.find(value, name, globs={}):
            if docstring.examples:
                yield docstring


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
# Starlette's TestClient would like another HTTP library.
@pytest.mark.filterwarnings("ignore")
def test_an_example_runs(
    example: doctest.DocTest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    example.globs |= PUBLIC
    failures: list[str] = []

    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
        example,
        out=failures.append,
    )

    assert not failures, "".join(failures)


def own_arguments(function: Any) -> list[str]:
    """Return the names of what a function takes, and others of its kind do not."""
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            names += names_of_options(parameter.annotation)
        if name not in {"self", "cls", "fields"}:
            names.append(name)
    return names


def names_of_options(annotation: Any) -> list[str]:
    """Return the names that `**options: Unpack[...]` stands for, if it does."""
    for options in get_args(annotation):
        return list(options.__annotations__)
    return []


class PublicFunction(NamedTuple):
    home: Any
    """Its class, or the function itself."""
    function: Any


def public_functions() -> dict[str, PublicFunction]:
    """Return the functions and methods that take something, by their names."""
    functions = {}
    for name, value in PUBLIC.items():
        members = vars(value) if inspect.isclass(value) else {name: value}
        for member, descriptor in members.items():
            function = getattr(descriptor, "__func__", descriptor)
            is_public = inspect.isfunction(function) and not member.startswith("_")
            if is_public and own_arguments(function):
                functions[f"{name}.{member}"] = PublicFunction(value, function)
    return functions


PUBLIC_FUNCTIONS = public_functions()


@pytest.mark.parametrize("name", PUBLIC_FUNCTIONS)
def test_a_docstring_names_every_argument(name: str) -> None:
    function = PUBLIC_FUNCTIONS[name].function

    text = inspect.getdoc(function) or ""

    for argument in own_arguments(function):
        assert f"`{argument}`" in text


@pytest.mark.parametrize("name", PUBLIC_FUNCTIONS)
def test_a_docstring_or_that_of_its_class_names_the_errors(name: str) -> None:
    home, function = PUBLIC_FUNCTIONS[name]

    texts = f"{inspect.getdoc(function)}{home.__doc__}"

    assert re.search("raises", texts, re.IGNORECASE)


@pytest.mark.parametrize("name", PUBLIC_FUNCTIONS)
def test_a_docstring_has_an_example(name: str) -> None:
    function = PUBLIC_FUNCTIONS[name].function

    assert ">>>" in (inspect.getdoc(function) or "")
