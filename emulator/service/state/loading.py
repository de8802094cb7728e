"""Read a state file, whatever it holds: within bounds of bytes and memory, in pieces, and strictly."""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import IO, Any

import orjson
from msgspec.structs import replace

from emulator.contract import Contract
from emulator.kernel.wording import excerpt, pointer
from emulator.scenario.format import parse_scenario
from emulator.service.images import MemoryBudget
from emulator.service.sandbox import DEFAULT_SANDBOX_ID, Sandbox, SandboxState
from emulator.service.state.codec import Codec, CodecError
from emulator.service.state.layout import CHUNK_BYTES, FORMAT, ONCE, PICTURES, STATE, TABLES, VERSION, SavedPicture
from emulator.service.state.soundness.rows import StateError
from emulator.service.state.soundness.steps import make_sound

MAXIMUM_STATE_BYTES = 256 * 1024 * 1024
"""The most bytes of `state.jsonl`."""
MAXIMUM_LINE_BYTES = 4 * 1024 * 1024
MAXIMUM_MEMBERS = 100_000
_MEMBER_SIGNATURE = b"PK\x01\x02"
_WINDOW_BYTES = 8 * 1024 * 1024

_UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, OSError, OverflowError)
"""What the reader of zip files raises for damaged files and for files of another kind."""


def load(
    content: bytes, identifier: str, limit_bytes: int, contract: Contract, go_on: Callable[[], None] = lambda: None
) -> Sandbox:
    """Make a sandbox with an id from a state file; nothing else changes. Call it in a thread of its own.

    `limit_bytes` is how many bytes of pictures it may have. They are counted in a budget of the sandbox's own, until
    it takes its place. `go_on` is called before each piece of work: raise from it to stop the loading.

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
            _check_names(archive.namelist(), {STATE, *(PICTURES + digest for digest in digests)})
    except _UNREADABLE as error:
        raise StateError(f"the file is not a state file: {error}") from None
    make_sound(sandbox, contract, go_on)
    return sandbox


@lru_cache(maxsize=1)
def _reading_codec(contract: Contract) -> Codec:
    """Return what reads values, and scenarios as a contract allows them."""
    codes = contract.problem_codes()
    return Codec(lambda text, file: parse_scenario(text, file, codes))


def _check_names(found: list[str], expected: set[str]) -> None:
    if len(found) != len(expected):
        names = set(found) - expected
        raise StateError(f"{min(names or found)}: expected each member once, and none that {STATE} does not name")


def _read(
    archive: zipfile.ZipFile, identifier: str, memory: MemoryBudget, codec: Codec, go_on: Callable[[], None]
) -> tuple[Sandbox, Iterable[str]]:
    """Read the lines one by one; return the sandbox that they make, and the digests of its pictures."""
    pictures: dict[str, bytes] = {}
    numbers = dict.fromkeys((*TABLES, "pictures"), 0)
    with _open(archive, STATE) as file:
        sandbox, original_id = _read_head(file, identifier, memory, codec)
        for line in _read_lines(file):
            go_on()
            if not isinstance(line, list) or len(line) != 2 or not isinstance(line[0], str) or line[0] not in numbers:
                raise StateError(
                    f"{STATE}: found {excerpt(line)}; expected one of {', '.join(numbers)}, and a row of it"
                )
            name, data = line
            where = f"/{name}/{numbers[name]}"
            numbers[name] += 1
            try:
                if name == "pictures":
                    picture = codec.read(SavedPicture, data, where)
                    _add_picture(sandbox, picture, archive, pictures, go_on)
                else:
                    row = codec.read(TABLES[name].kind, data, where)
                    TABLES[name].add(sandbox, row)
            except CodecError as error:
                raise StateError(str(error)) from None
            except ValueError as error:
                raise StateError(f"{where}: {error}") from None
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
                f"{STATE}: expected at most {MAXIMUM_LINE_BYTES} bytes a line and {MAXIMUM_STATE_BYTES} in all"
            )
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise StateError(f"{STATE}: {error}") from None


def _read_head(file: IO[bytes], identifier: str, memory: MemoryBudget, codec: Codec) -> tuple[Sandbox, str]:
    """Read the first line: an empty sandbox, and the id of the one that was saved."""
    head = next(_read_lines(file), None)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise StateError(f"{STATE}: expected the format {FORMAT!r}")
    if head.get("version") != VERSION:
        raise StateError(f"/version: found {excerpt(head.get('version'))}; this emulator reads version {VERSION} alone")
    known = {"format", "version", "sandbox", *ONCE}
    if head.keys() != known:
        raise StateError(
            f"{pointer(min(head.keys() ^ known))}: expected the fields {', '.join(sorted(known))} and no others"
        )
    try:
        once = {name: codec.read(kind, head[name], f"/{name}") for name, kind in ONCE.items()}
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
    sandbox.images.restore(picture.key, data, picture.recipe, picture.scene)


def _read_bytes(archive: zipfile.ZipFile, sha256: str, memory: MemoryBudget, go_on: Callable[[], None]) -> bytes:
    """Read the bytes of a picture piece by piece: a whole one, which may be a bomb, would hold other threads up."""
    left_bytes, digest, data = memory.limit_bytes - memory.held_bytes, hashlib.sha256(), io.BytesIO()
    with _open(archive, PICTURES + sha256) as file:
        while piece := file.read(CHUNK_BYTES):
            go_on()
            left_bytes -= len(piece)
            if left_bytes < 0:
                raise StateError(
                    f"found more than {memory.limit_bytes} bytes of pictures; expected --max-memory at most"
                )
            digest.update(piece)
            data.write(piece)
    if digest.hexdigest() != sha256:
        raise StateError(f"{PICTURES}{sha256}: found bytes of another SHA-256; expected those that were saved")
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
