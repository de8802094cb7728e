"""State files: a whole sandbox as one zip, to attach to a bug report and load elsewhere.

The file holds `state.jsonl` and `pictures/<SHA-256>` for the bytes of each encoded picture. The first line of
`state.jsonl` is an object of all that a `SandboxState` has once; every other line is `[table, row]`, one thing of which
there are many. So a file is written and read piece by piece, however large it is, and other threads are not blocked.

A sandbox that is loaded continues byte for byte as the original would have. What is not in the file: requests that were
being answered (held admissions among them), and the journal's entries; its numbers go on. What follows from the rest
(indexes, reservations, who holds which picture) is rebuilt by `soundness`, which also refuses what does not fit.

A sandbox of another id can take the file: its keys then have its own id worked in, its links lead to it, and tokens and
cursors that the original gave out stay good.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import IO, Any, get_type_hints

import orjson

from emulator.contract import Contract
from emulator.domain.admission import RateWindow
from emulator.domain.idempotency import Record, Scope
from emulator.domain.problems import excerpt, pointer
from emulator.domain.recipes import Recipe
from emulator.domain.resources import (
    Asset,
    Background,
    FashionModel,
    Generation,
    Operation,
    PhotographyStyle,
    Pose,
    Product,
    Scene,
    UploadSession,
)
from emulator.kernel.clock import Clock
from emulator.kernel.timeline import Event
from emulator.scenario.format import parse_scenario
from emulator.scenario.playbook import Playbook
from emulator.scenario.scenario import Scenario
from emulator.service.codec import Codec, CodecError
from emulator.service.engine import HOLD_EVENT
from emulator.service.images import MemoryBudget
from emulator.service.record import MAXIMUM_FINDINGS, MAXIMUM_NOTES, Finding, Note
from emulator.service.record import Record as Observed
from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox, SandboxState
from emulator.service.soundness import StateError, make_sound
from emulator.service.store import Collection
from emulator.service.teams import CredentialAccount, TeamAccount

FORMAT = "image-workflow-emulator state"
VERSION = 3
MAXIMUM_STATE_BYTES = 256 * 1024 * 1024
"""Of `state.jsonl`."""
MAXIMUM_LINE_BYTES = 4 * 1024 * 1024
MAXIMUM_MEMBERS = 100_000
_MAXIMUM_COUNTS = 10_000
_STATE = "state.jsonl"
_PICTURES = "pictures/"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The one date that every member of the file has, so that equal states are equal files."""
_MEMBER_SIGNATURE = b"PK\x01\x02"
_WINDOW_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024

_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, OSError, OverflowError)
"""What the reader of zip files raises for damaged files and for files of another kind."""


@dataclass(frozen=True, slots=True)
class SavedPicture:
    """A picture: its recipe, or the SHA-256 (in hexadecimal) of its bytes, which are a member of the file."""

    key: str
    recipe: Recipe | None
    sha256: str | None
    scene: Scene | None


@dataclass(frozen=True, slots=True)
class _Table:
    """Something of which a sandbox has many: the type of a row, how to list them all, how to take one over."""

    kind: Any
    rows: Callable[[Sandbox], Iterable[Any]]
    add: Callable[[Sandbox, Any], None]


def _in_dict(
    kind: Any, of: Callable[[Sandbox], dict[str, Any]], key: Callable[[Any], str], copied: Callable[[Any], Any]
) -> _Table:
    """Return the table of what is changed in place: a copy is made before anything else happens."""

    def add(sandbox: Sandbox, item: Any) -> None:
        if of(sandbox).setdefault(key(item), item) is not item:
            raise StateError(f"found {excerpt(key(item))} a second time")

    return _Table(kind, lambda sandbox: map(copied, of(sandbox).values()), add)


def _copy_rate(rate: RateWindow) -> RateWindow:
    return RateWindow(rate.admitted.copy())


def _copy_account(account: TeamAccount) -> TeamAccount:
    rate, pause = _copy_rate(account.rate), copy(account.pause)
    return TeamAccount(account.team, copy(account.ledger), copy(account.budget), rate, pause)


def _collection(kind: Any, of: Callable[[Sandbox], Collection[Any]]) -> _Table:
    def add(sandbox: Sandbox, item: Any) -> None:
        ids = of(sandbox).items
        if ids and item.id <= next(reversed(ids)):
            raise StateError(
                f"found the id {excerpt(item.id)} after {excerpt(next(reversed(ids)))}; expected ascending ids"
            )
        of(sandbox).add(item)

    return _Table(kind, lambda sandbox: of(sandbox).items.values(), add)


def _listed(kind: Any, of: Callable[[Sandbox], list[Any]], maximum: int) -> _Table:
    def add(sandbox: Sandbox, item: Any) -> None:
        if len(of(sandbox)) >= maximum:
            raise StateError(f"found more than {maximum}; expected fewer")
        of(sandbox).append(item)

    return _Table(kind, of, add)


def _counts(of: Callable[[Sandbox], dict[str, int]]) -> _Table:
    def add(sandbox: Sandbox, row: tuple[str, int]) -> None:
        if len(of(sandbox)) >= _MAXIMUM_COUNTS:
            raise StateError(f"found more than {_MAXIMUM_COUNTS}; expected fewer")
        of(sandbox)[row[0]] = row[1]

    return _Table(tuple[str, int], lambda sandbox: of(sandbox).items(), add)


def _ingredients(kind: Any) -> _Table:
    return _collection(kind, lambda sandbox: sandbox.store.ingredients[kind.kind])


def _record(sandbox: Sandbox, row: tuple[Scope, Record]) -> None:
    if sandbox.idempotency.find(row[0], row[1].admitted_at) is not None:
        raise StateError(f"found the key {excerpt(row[0].key)} a second time")
    sandbox.idempotency.restore(*row)


_TABLES: Mapping[str, _Table] = {
    "accounts": _in_dict(TeamAccount, lambda sandbox: sandbox.accounts, lambda account: account.team.id, _copy_account),
    "credentials": _in_dict(
        CredentialAccount,
        lambda sandbox: sandbox.credentials,
        lambda held: held.credential.key,
        lambda held: CredentialAccount(held.credential, _copy_rate(held.rate)),
    ),
    "playbooks": _in_dict(
        Playbook,
        lambda sandbox: sandbox.playbooks,
        lambda playbook: playbook.team or "",
        lambda playbook: replace(playbook, counts={name: copy(counts) for name, counts in playbook.counts.items()}),
    ),
    "uploads": _collection(UploadSession, lambda sandbox: sandbox.store.uploads),
    "assets": _collection(Asset, lambda sandbox: sandbox.store.assets),
    "products": _collection(Product, lambda sandbox: sandbox.store.products),
    "photography_styles": _ingredients(PhotographyStyle),
    "backgrounds": _ingredients(Background),
    "poses": _ingredients(Pose),
    "fashion_models": _ingredients(FashionModel),
    "operations": _collection(Operation, lambda sandbox: sandbox.store.operations),
    "generations": _collection(Generation, lambda sandbox: sandbox.store.generations),
    "records": _Table(tuple[Scope, Record], lambda sandbox: sandbox.idempotency.records(), _record),
    "notes": _listed(Note, lambda sandbox: sandbox.record.notes, MAXIMUM_NOTES),
    "findings": _listed(Finding, lambda sandbox: sandbox.record.findings, MAXIMUM_FINDINGS),
    "checked": _counts(lambda sandbox: sandbox.record.checked),
    "met": _counts(lambda sandbox: sandbox.record.met),
    "events": _Table(
        Event,
        lambda sandbox: [event for event in sandbox.timeline.pending() if event.kind != HOLD_EVENT],
        lambda sandbox, event: sandbox.timeline.restore(event),
    ),
}
_ONCE = {
    name: kind
    for name, kind in get_type_hints(SandboxState).items()
    if name not in ("accounts", "credentials", "playbooks", "record", "store")
}
"""What a state has once, with its type."""


# Saving -------------------------------------------------------------------------------------------------------------


def save(sandbox: Sandbox, now: int, observed: Callable[[], Observed] | None = None) -> Iterator[bytes]:
    """Return a sandbox that is settled up to now as the pieces of a state file.

    The sandbox may change while the pieces are fetched, from whatever thread: they tell of the moment of this call. What
    `observed` returns, which is called with the first piece, takes the place of the sandbox's record.
    """
    once = {name: copy(getattr(sandbox, name)) for name in _ONCE}
    once["clock"] = Clock(sandbox.clock.setting, now, elapsed_ms=lambda: 0.0)
    tables = {name: list(table.rows(sandbox)) for name, table in _TABLES.items()}
    pictures = [
        (key, picture.content.recipe, picture.data, picture.scene) for key, picture in sandbox.images.pictures.items()
    ]
    return _pieces(sandbox.id, once, tables, pictures, observed)


@cache
def _writing_codec() -> Codec:
    """Return what writes values: making it takes longer than writing a small state."""
    return Codec(_read_no_scenario)


@lru_cache(maxsize=1)
def _reading_codec(contract: Contract) -> Codec:
    """Return what reads values, and scenarios as a contract allows them."""
    facts = contract.facts()
    return Codec(lambda text, file: parse_scenario(text, file, facts))


def _read_no_scenario(text: str, file: str) -> Scenario:
    raise AssertionError("nothing is read while a state is written")


class _Sink(io.RawIOBase):
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        pieces, self._pieces = self._pieces, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _pieces(
    identifier: str,
    once: dict[str, Any],
    tables: dict[str, list[Any]],
    pictures: list[tuple[str, Recipe | None, bytes | None, Scene | None]],
    observed: Callable[[], Observed] | None,
) -> Iterator[bytes]:
    if observed is not None:
        record = observed()
        tables |= {"notes": record.notes, "findings": record.findings}
        tables |= {"checked": list(record.checked.items()), "met": list(record.met.items())}
    codec, sink = _writing_codec(), _Sink()
    head = {"format": FORMAT, "version": VERSION, "sandbox": identifier}
    head.update({name: codec.write(value) for name, value in once.items()})
    with zipfile.ZipFile(sink, "w") as archive:
        written, saved = set[str](), []
        for key, recipe, data, scene in pictures:
            digest = None
            if data is not None:
                digest = hashlib.sha256(data).hexdigest()
                if digest not in written:
                    written.add(digest)
                    archive.writestr(zipfile.ZipInfo(_PICTURES + digest, _EPOCH), data, zipfile.ZIP_STORED)
                    yield sink.take()
            saved.append(SavedPicture(key, recipe if data is None else None, digest, scene))
        member = zipfile.ZipInfo(_STATE, _EPOCH)
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w", force_zip64=True) as file:
            for chunk in _chunks(_lines(codec, head, {**tables, "pictures": saved})):
                file.write(chunk)
                yield sink.take()
    yield sink.take()


def _lines(codec: Codec, head: dict[str, Any], tables: dict[str, list[Any]]) -> Iterator[bytes]:
    yield orjson.dumps(head, default=list, option=orjson.OPT_APPEND_NEWLINE)
    for name, rows in tables.items():
        for row in sorted(rows) if name == "events" else rows:
            yield orjson.dumps([name, codec.write(row)], default=list, option=orjson.OPT_APPEND_NEWLINE)


def _chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join short lines to larger pieces."""
    gathered, size_bytes = [], 0
    for line in lines:
        gathered.append(line)
        size_bytes += len(line)
        if size_bytes >= _CHUNK_BYTES:
            yield b"".join(gathered)
            gathered, size_bytes = [], 0
    yield b"".join(gathered)


# Loading ------------------------------------------------------------------------------------------------------------


def load(
    content: bytes, identifier: str, limit_bytes: int, contract: Contract, go_on: Callable[[], None] = lambda: None
) -> Sandbox:
    """Make a sandbox of an id from a state file; nothing else changes. To be called in a thread of its own.

    `limit_bytes` is how many bytes of pictures it may have. They are counted in a budget of the sandbox's own, until
    it takes its place. `go_on` is called again and again; what it raises ends the reading.

    Raises:
        StateError: the file is not a state file, is of another version, or does not fit together.
    """
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise StateError("the file is not a state file: it is not a zip file")
    windows = range(0, len(content), _WINDOW_BYTES)
    if sum(content.count(_MEMBER_SIGNATURE, start, start + _WINDOW_BYTES) for start in windows) > MAXIMUM_MEMBERS:
        raise StateError(f"the file is not a state file: it has more than {MAXIMUM_MEMBERS} members")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            codec = _reading_codec(contract)
            sandbox, digests = _read(archive, identifier, MemoryBudget(limit_bytes), codec, go_on)
            _check_names(archive.namelist(), {_STATE, *(_PICTURES + digest for digest in digests)})
    except _UNREADABLE as error:
        raise StateError(f"the file is not a state file: {error}") from None
    make_sound(sandbox, contract, go_on)
    return sandbox


def _check_names(found: list[str], expected: set[str]) -> None:
    if len(found) != len(expected):
        names = set(found) - expected
        raise StateError(f"{min(names or found)}: expected each member once, and none that {_STATE} does not name")


def _read(
    archive: zipfile.ZipFile, identifier: str, memory: MemoryBudget, codec: Codec, go_on: Callable[[], None]
) -> tuple[Sandbox, Iterable[str]]:
    """Read the lines one by one; return the sandbox that they make, and the digests of its pictures."""
    pictures: dict[str, bytes] = {}
    numbers = dict.fromkeys((*_TABLES, "pictures"), 0)
    with _open(archive, _STATE) as file:
        sandbox, original_id = _read_head(file, identifier, memory, codec)
        for line in _read_lines(file):
            go_on()
            if not isinstance(line, list) or len(line) != 2 or not isinstance(line[0], str) or line[0] not in numbers:
                raise StateError(
                    f"{_STATE}: found {excerpt(line)}; expected one of {', '.join(numbers)}, and a row of it"
                )
            name, data = line
            where = f"/{name}/{numbers[name]}"
            numbers[name] += 1
            try:
                if name == "pictures":
                    picture = codec.read(SavedPicture, data, where)
                    _add_picture(sandbox, picture, archive, pictures, go_on)
                else:
                    row = codec.read(_TABLES[name].kind, data, where)
                    _TABLES[name].add(sandbox, row)
            except CodecError as error:
                raise StateError(str(error)) from None
            except ValueError as error:
                raise StateError(f"{where}: {error}") from None
    sandbox.record.has_failed = bool(sandbox.record.notes)  # one of them may have, and be repeated from now on
    _rename_keys(sandbox, original_id)
    return sandbox, pictures


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


def _read_lines(file: IO[bytes]) -> Iterator[Any]:
    left_bytes = MAXIMUM_STATE_BYTES
    while line := file.readline(MAXIMUM_LINE_BYTES + 1):
        left_bytes -= len(line)
        if len(line) > MAXIMUM_LINE_BYTES or left_bytes < 0:
            raise StateError(
                f"{_STATE}: expected at most {MAXIMUM_LINE_BYTES} bytes a line and {MAXIMUM_STATE_BYTES} in all"
            )
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise StateError(f"{_STATE}: {error}") from None


def _read_head(file: IO[bytes], identifier: str, memory: MemoryBudget, codec: Codec) -> tuple[Sandbox, str]:
    """Read the first line: an empty sandbox, and the id of the one that was saved."""
    head = next(_read_lines(file), None)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise StateError(f"{_STATE}: expected the format {FORMAT!r}")
    if head.get("version") != VERSION:
        raise StateError(f"/version: found {excerpt(head.get('version'))}; this emulator reads version {VERSION} alone")
    known = {"format", "version", "sandbox", *_ONCE}
    if head.keys() != known:
        raise StateError(
            f"{pointer(min(head.keys() ^ known))}: expected the fields {', '.join(sorted(known))} and no others"
        )
    try:
        once = {name: codec.read(kind, head[name], f"/{name}") for name, kind in _ONCE.items()}
        original_id = codec.read(str, head["sandbox"], "/sandbox")
    except CodecError as error:
        raise StateError(str(error)) from None
    return Sandbox(identifier, memory, SandboxState(**once)), original_id


def _add_picture(
    sandbox: Sandbox,
    picture: SavedPicture,
    archive: zipfile.ZipFile,
    pictures: dict[str, bytes],
    go_on: Callable[[], None],
) -> None:
    if picture.key in sandbox.images.pictures or (picture.recipe is None) == (picture.sha256 is None):
        raise StateError(f"found {excerpt(picture.key)}; expected it once, with a recipe or the SHA-256 of its bytes")
    data = None
    if picture.sha256 is not None:
        data = pictures.get(picture.sha256)
        if data is None:
            data = pictures[picture.sha256] = _read_bytes(archive, picture.sha256, sandbox.memory, go_on)
    sandbox.images.restore(picture.key, data, picture.recipe, picture.scene, holds=0, is_public=False)


def _read_bytes(archive: zipfile.ZipFile, sha256: str, memory: MemoryBudget, go_on: Callable[[], None]) -> bytes:
    """Read the bytes of a picture piece by piece: a whole one, which may be a bomb, would hold other threads up."""
    left_bytes, digest, data = memory.limit_bytes - memory.held_bytes, hashlib.sha256(), io.BytesIO()
    with _open(archive, _PICTURES + sha256) as file:
        while piece := file.read(_CHUNK_BYTES):
            go_on()
            left_bytes -= len(piece)
            if left_bytes < 0:
                raise StateError(
                    f"found more than {memory.limit_bytes} bytes of pictures; expected --max-memory at most"
                )
            digest.update(piece)
            data.write(piece)
    if digest.hexdigest() != sha256:
        raise StateError(f"{_PICTURES}{sha256}: found bytes of another SHA-256; expected those that were saved")
    return data.getvalue()


def _rename_keys(sandbox: Sandbox, original_id: str) -> None:
    """Give the credentials keys as this sandbox has them."""
    found, sandbox.credentials = sandbox.credentials, {}
    for held in found.values():
        world_key = held.credential.key
        if original_id != DEFAULT_SANDBOX_ID:
            world_key = world_key.removesuffix(f"_{original_id}")
        held.credential = replace(held.credential, key=sandbox.key_of(world_key))
        sandbox.credentials[held.credential.key] = held
