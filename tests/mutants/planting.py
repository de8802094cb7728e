"""How a fault is planted: something else is put in the place of a public function, method, constant or operation.

What is replaced is named by itself, not by a text, and found wherever the emulator has imported it; so a rename that
forgets a fault is an error of types, and a move from one module to another changes nothing here.
"""

import importlib
import pkgutil
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial, reduce
from typing import Any, Final, TypeAlias, cast

import pytest
from msgspec.structs import replace

import image_workflow_emulator
from image_workflow_emulator.service.sandbox.calls import Handler
from image_workflow_emulator.service.sandbox.sandbox import Sandbox, SandboxState
from image_workflow_emulator.web.operations import OPERATIONS, Row

Plant: TypeAlias = Callable[[pytest.MonkeyPatch], None]
Function: TypeAlias = Callable[..., Any]
Commit: TypeAlias = Callable[..., Any]

PLANTED_FAULTS: Final[dict[str, Plant]] = {}
"""All planted faults by name. The emulator must be made after one was planted."""

_NOT_IMPORTED: Final = {"image_workflow_emulator.__main__", "image_workflow_emulator.pytest_plugin"}


@cache
def _places(original: Hashable) -> list[tuple[object, str]]:
    """Return every module and class of the emulator that has something, and under which name.

    Everything is imported first: what is imported while a fault is planted would keep it.
    """
    names = {
        module.name for module in pkgutil.walk_packages(image_workflow_emulator.__path__, "image_workflow_emulator.")
    } - _NOT_IMPORTED
    modules = [importlib.import_module(name) for name in sorted(names)]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    owners = [*modules, *(owner for owner in classes if owner.__module__ in names)]
    return [(owner, name) for owner in owners for name, value in vars(owner).items() if value is original]


def put(patch: pytest.MonkeyPatch, original: Hashable, other: object) -> None:
    """Put something in the place of a function, method or constant, wherever the emulator has it."""
    assert _places(original), f"the emulator has no {original}"
    for owner, name in _places(original):
        patch.setattr(owner, name, other)


@contextmanager
def instead(original: Hashable, other: object) -> Iterator[None]:
    """Put something in the place of something else for a while."""
    with pytest.MonkeyPatch.context() as patch:
        put(patch, original, other)
        yield


def planted(fault: Plant) -> Plant:
    """List a fault that plants itself."""
    PLANTED_FAULTS[fault.__name__] = fault
    return fault


def planted_in(*originals: Function) -> Callable[[Function], Function]:
    """List a fault that takes the place of functions or methods: it is given the original, then the arguments."""

    def listed(fault: Function) -> Function:
        PLANTED_FAULTS[fault.__name__] = partial(_put_in_all, originals=originals, fault=fault)
        return fault

    return listed


def _put_in_all(patch: pytest.MonkeyPatch, originals: Iterable[Function], fault: Function) -> None:
    for original in originals:
        put(patch, original, _bound(fault, original))


def _bound(fault: Function, original: Function) -> Function:
    """Return a function, since a `partial` would not become a method."""
    return lambda *arguments, **named: fault(original, *arguments, **named)


def list_as_left_out(**originals: Function) -> None:
    """List, by name, the faults that functions or methods do nothing."""
    for name, original in originals.items():
        PLANTED_FAULTS[name] = partial(put, original=original, other=lambda *arguments: None)


def list_as_changed(**changes: tuple[list[Function], Function]) -> None:
    """List, by name, the faults that functions or methods do otherwise: each is given the original, then the arguments."""
    for name, (originals, fault) in changes.items():
        PLANTED_FAULTS[name] = partial(_put_in_all, originals=originals, fault=fault)


def list_as_constants(**constants: tuple[Hashable, object]) -> None:
    """List, by name, the faults that another constant is in the place of one."""
    for name, (original, other) in constants.items():
        PLANTED_FAULTS[name] = partial(put, original=original, other=other)


def list_as_shared(**parts: str) -> None:
    """List, by name, the faults that all sandboxes have what belongs to the first one."""
    for name, part in parts.items():
        PLANTED_FAULTS[name] = partial(_share, part=part)


def _share(patch: pytest.MonkeyPatch, part: str) -> None:
    *owner, name = part.split(".")
    shared: list[object] = []
    become = Sandbox.become

    def become_and_share(sandbox: Sandbox, state: SandboxState) -> None:
        become(sandbox, state)
        home = reduce(getattr, owner, sandbox)
        shared.append(getattr(home, name))
        setattr(home, name, shared[0])

    put(patch, become, become_and_share)


def planted_in_operations(*names: str) -> Callable[[Commit], Commit]:
    """List a fault that takes the place of the commits of operations: it is given the original, then its arguments."""

    def listed(fault: Commit) -> Commit:
        def plant(patch: pytest.MonkeyPatch) -> None:
            for name in names:
                handler = OPERATIONS[name].handler
                put_handler(patch, name, replace(handler, commit=partial(fault, handler.commit)))

        PLANTED_FAULTS[fault.__name__] = plant
        return fault

    return listed


def put_handler(patch: pytest.MonkeyPatch, name: str, handler: Handler) -> None:
    """Let an operation be handled otherwise."""
    put_row(patch, name, replace(OPERATIONS[name], handler=handler))


def put_row(patch: pytest.MonkeyPatch, name: str, row: Row) -> None:
    patch.setitem(cast("dict[str, Row]", OPERATIONS), name, row)
