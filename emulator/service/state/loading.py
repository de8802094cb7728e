"""Read a state file, whatever it holds: within bounds of bytes and memory, and in pieces."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import IO, Annotated, Any

import msgspec
from msgspec import Meta, structs
from msgspec.json import Decoder

from emulator.contract import Contract
from emulator.documents.complaints import DocumentError
from emulator.domain.idempotency import RETENTIONS_MS, IdempotencyRecords
from emulator.kernel.clock import Clock
from emulator.kernel.seed import Seed
from emulator.kernel.wording import excerpt
from emulator.scenario.format import parse_scenario
from emulator.scenario.scenario import NO_SCENARIO, Scenario
from emulator.service.images import MemoryBudget
from emulator.service.journal import Journal
from emulator.service.sandbox import Sandbox, SandboxOptions, SandboxState
from emulator.service.state.layout import (
    CHUNK_BYTES,
    DIGEST,
    FORMAT,
    ONCE,
    PICTURES,
    STATE,
    VERSION,
    FileVersion,
    Head,
    SavedScenario,
    StateError,
    digest_line,
)
from emulator.service.state.tables import TABLES, Loading, complete

MAX_STATE_BYTES = 256 * 1024 * 1024
"""The most bytes of `state.jsonl`."""
MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_MEMBERS = 100_000
_MEMBER_SIGNATURE = b"PK\x01\x02"

_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, OSError, OverflowError)
"""What the reader of zip files raises for damaged files and for files of another kind."""
_UNFIT = (msgspec.MsgspecError, DocumentError, ValueError, RecursionError)
"""What is raised for a row that does not fit."""

_ROW = Decoder(tuple[Annotated[str, Meta(max_length=40)], msgspec.Raw])


def load(
    content: bytes,
    identifier: str,
    limit_bytes: int,
    contract: Contract,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Sandbox:
    """Make a sandbox with an id from a state file; nothing else changes. Call it in a thread of its own.

    `limit_bytes` is how many bytes of pictures it may have. They are counted in a budget of the sandbox's own, until
    it takes its place. `is_stopping` ends the loading: the process cannot end before its threads.

    Raises:
        StateError: the file is not a state file, is of another version, or does not fit together.
    """
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise StateError("the file is not a state file: it is not a zip file")
    if content.count(_MEMBER_SIGNATURE) > MAX_MEMBERS:
        raise StateError(f"the file is not a state file: it has more than {MAX_MEMBERS} members")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_whole(archive, is_stopping)
            return _Reader(archive, MemoryBudget(limit_bytes), contract, is_stopping).read(identifier)
    except _UNREADABLE as error:
        raise StateError(f"the file is not a state file, or is damaged: {error}") from None


def _open(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    try:
        member = archive.getinfo(name)
    except KeyError:
        raise StateError(f"the file is not a state file: it has no {name}") from None
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StateError(f"{name}: expected it to be stored or deflated")
    try:
        return archive.open(member)
    except ValueError as error:  # the directory names a place before the file's beginning
        raise StateError(f"the file is not a state file: {error}") from None


def _pieces(file: IO[bytes], limit_bytes: int, is_stopping: Callable[[], bool]) -> Iterator[bytes]:
    """Read a member piece by piece: a whole one, which may be a bomb, would hold other threads up."""
    while piece := file.read(CHUNK_BYTES):
        _check_going_on(is_stopping)
        limit_bytes -= len(piece)
        if limit_bytes < 0:
            raise StateError(f"{file.name}: found more bytes than a file may have here")
        yield piece


def _check_going_on(is_stopping: Callable[[], bool]) -> None:
    if is_stopping():
        raise StateError("the emulator is stopping")


def _check_whole(archive: zipfile.ZipFile, is_stopping: Callable[[], bool]) -> None:
    """Check format, version and digest."""
    with _open(archive, STATE) as file:
        try:
            found = msgspec.json.decode(file.readline(MAX_LINE_BYTES), type=FileVersion)
        except _UNFIT:
            raise StateError(f"the file is not a state file: {STATE} does not begin as one") from None
    if found.format != FORMAT:
        raise StateError(f"the file is not a state file: found the format {excerpt(found.format)}")
    if found.version != VERSION:
        raise StateError(
            f"another version of the emulator wrote this file: found version {found.version} of state files, and this "
            f"emulator reads version {VERSION}; load it with the emulator that wrote it"
        )
    digest = hashlib.sha256()
    with _open(archive, STATE) as file:
        for piece in _pieces(file, MAX_STATE_BYTES, is_stopping):
            digest.update(piece)
    with _open(archive, DIGEST) as file:
        if file.read(CHUNK_BYTES) != digest_line(digest.hexdigest()):
            raise StateError(
                f"{STATE} is not as it was saved (see {DIGEST}): the file is damaged, or somebody changed it"
            )


@cache
def _decoder(table: str) -> Decoder[Any]:
    return Decoder(TABLES[table].kind)


@dataclass(eq=False)
class _Reader:
    """Reads one file whose digest is right."""

    _archive: zipfile.ZipFile
    _memory: MemoryBudget
    _contract: Contract
    _is_stopping: Callable[[], bool]
    _pictures: dict[str, bytes] = field(default_factory=dict)

    def read(self, identifier: str) -> Sandbox:
        """Read the lines one by one, and return the sandbox that they make."""
        with io.BufferedReader(_open(self._archive, STATE), CHUNK_BYTES) as file:  # type: ignore[type-var]  # it reads like a raw file
            head = self._read_head(file)
            loading = self._begin(identifier, head)
            self._read_rows(file, loading)
        complete(loading)
        return loading.sandbox

    def _read_head(self, file: IO[bytes]) -> Head:
        try:
            return msgspec.json.decode(file.readline(MAX_LINE_BYTES), type=Head)
        except _UNFIT as error:
            raise StateError(f"{STATE}:1: {error}") from None

    def _begin(self, identifier: str, head: Head) -> Loading:
        options = head.options
        try:
            scenario = self._read_scenario(options.scenario)
        except DocumentError as error:
            raise StateError(f"{STATE}:1: the scenario of a reset: {error}") from None
        state = SandboxState(
            options=SandboxOptions(**structs.asdict(options) | {"scenario": scenario}),
            seed=Seed(head.seed),
            clock=Clock(head.clock, head.now),
            idempotency=IdempotencyRecords(retention_ms=RETENTIONS_MS[head.readings.key_retention]),
            journal=Journal(last_sequence=head.last_sequence),
            **{name: getattr(head, name) for name in ONCE},
        )
        sandbox = Sandbox(identifier, self._memory, state)
        return Loading(sandbox, head.sandbox, head.now, self._contract, self._read_scenario, self._read_bytes)

    def _read_rows(self, file: IO[bytes], loading: Loading) -> None:
        tables = list(TABLES)
        for number, line in enumerate(iter(partial(file.readline, MAX_LINE_BYTES), b""), start=2):
            _check_going_on(self._is_stopping)
            try:
                name, data = _ROW.decode(line)
                if name not in tables:
                    raise StateError(f"found a row of {excerpt(name)}; expected one of {', '.join(tables)}")
                del tables[: tables.index(name)]
                TABLES[name].add(loading, _decoder(name).decode(data))
            except KeyError as error:
                raise StateError(f"{STATE}:{number}: nothing before it has the id {excerpt(error.args[0])}") from None
            except _UNFIT as error:
                raise StateError(f"{STATE}:{number}: {error}") from None

    def _read_scenario(self, saved: SavedScenario) -> Scenario:
        """Read a scenario. Raises DocumentError."""
        return parse_scenario(saved.text, saved.file, self._contract) if saved.text else NO_SCENARIO

    def _read_bytes(self, sha256: str) -> bytes:
        """Return the bytes of a picture."""
        if sha256 in self._pictures:
            return self._pictures[sha256]
        with _open(self._archive, PICTURES + sha256) as file:
            data = b"".join(_pieces(file, self._memory.limit_bytes - self._memory.held_bytes, self._is_stopping))
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StateError(f"{PICTURES}{sha256} is not as it was saved: the file is damaged, or somebody changed it")
        self._pictures[sha256] = data
        return data
