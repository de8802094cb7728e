"""The docstrings of `image_workflow_emulator.testing` name every argument and the errors; their examples run."""

import doctest
import inspect
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from image_workflow_emulator import testing

PUBLIC = {name: value for name, value in vars(testing).items() if callable(value)}
EXAMPLES = [
    found
    for name, value in PUBLIC.items()
    for found in doctest.DocTestFinder().find(value, name, globs={})
    if found.examples
]


def arguments(function: Any) -> list[str]:
    """The names of what a function takes, but for what belongs to every one of its kind."""
    parameters = inspect.signature(function).parameters
    groups = (one.annotation for one in parameters.values() if one.kind is one.VAR_KEYWORD)
    named = [name for group in groups for name in getattr(next(iter(get_args(group)), None), "__annotations__", ())]
    return [name for name in parameters if name not in ("self", "cls", "fields")] + named


MEMBERS = {
    f"{name}.{member}": (value, getattr(function, "__func__", function))
    for name, value in PUBLIC.items()
    for member, function in (vars(value).items() if inspect.isclass(value) else [(name, value)])
}
WITH_ARGUMENTS = {
    name: (home, function)
    for name, (home, function) in MEMBERS.items()
    if inspect.isfunction(function) and "._" not in name and arguments(function)
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda found: found.name)
@pytest.mark.filterwarnings("ignore")  # Starlette's TestClient would like another HTTP library
def test_an_example_runs(example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example.globs |= PUBLIC
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_a_docstring_names_every_argument_and_the_errors_and_has_an_example(name: str) -> None:
    home, function = WITH_ARGUMENTS[name]
    text = inspect.getdoc(function) or ""
    assert [] == [argument for argument in arguments(function) if f"`{argument}`" not in text]
    assert re.search("raises", text + home.__doc__, re.IGNORECASE)
    assert ">>>" in text
