"""The errors of a program that uses an emulator, and its files.

A file is read whole, within a limit, and written whole or not at all.
"""

from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.documents import files
from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.limits import MAX_BYTES

NO_ANSWER: Final = "no_answer"
"""The code of an error that no emulator answered with: none is at the address, or
something else answers there.
"""
NOT_STARTED: Final = "not_started"
"""The code of an emulator that could not be started: an option or a file that cannot be
used, a port that is taken.
"""
_MAX_STATE_BYTES: Final = 4 * 2**30
"""The largest state file that is read; the emulator has a lower limit of its own."""


class EmulatorError(Exception):
    """The emulator refused what was asked of it, or does not answer.

    `code` is the control plane's (`invalid_request`, `invalid_scenario`, `not_found`,
    ...), or `no_answer` or `not_started` where no emulator answered. `detail` says where,
    what was found and what was expected. `status` is the HTTP status, None where there
    was none.

        >>> create_app().sandbox.key("iwe_nobody")
        Traceback (most recent call last):
        image_workflow_emulator.client.local_files.EmulatorError: 'iwe_nobody': ...
    """

    def __init__(
        self,
        code: str,
        detail: str,
        status: int | None = None,
    ) -> None:
        super().__init__(code, detail, status)
        self.code = code
        self.detail = detail
        self.status = status

    def __str__(self) -> str:
        if self.status:
            return f"{self.detail} ({self.status} {self.code})"
        return self.detail


class UnusableFileError(EmulatorError):
    """A file on this machine that cannot be used.

    It cannot be read or written, or has the wrong form.
    """


def is_refusal(exception_info: Any) -> bool:
    """Whether pytest reports an EmulatorError.

    The files that raise it then hide their lines from the tracebacks of pytest.
    """
    if exception_info is None:
        return False
    return isinstance(exception_info.value, EmulatorError)


__tracebackhide__ = is_refusal


def unreadable(error: OSError) -> str:
    """Say that a file cannot be read."""
    return f"cannot read {error.filename}: {_reason_of(error)}"


def read_file(file: "str | PathLike[str]", max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a file.

    Raises:
        UnusableFileError: it cannot be read, or has more bytes than the limit.
    """
    try:
        return files.read_file(file, max_bytes)
    except OSError as error:
        raise UnusableFileError("not_found", unreadable(error)) from None
    except DocumentError as error:
        raise UnusableFileError("invalid_request", str(error)) from None


def read_state_file(file: "str | PathLike[str]") -> bytes:
    """Return what a state file holds.

    A pipe is read within a lower limit: it may have no end. Raises UnusableFileError for
    what cannot be read, and for a device.
    """
    path = Path(file)
    if path.is_char_device() or path.is_block_device():
        raise UnusableFileError(
            "invalid_request",
            f"{fspath(file)}: expected a file or a pipe, not a device",
        )
    if path.is_fifo():
        return read_file(file, files.MAX_RECORDING_BYTES)
    return read_file(file, _MAX_STATE_BYTES)


def check_writable(flag: str, name: str) -> Path:
    """Return the file that an option names, if it can be written.

    The file is left as it was. Raises UnusableFileError.
    """
    file = Path(name)
    try:
        is_new = not file.exists()
        target = file.resolve()  # a link may name a file that is not there yet
        target.open("ab").close()
        if is_new:
            target.unlink()
    except (OSError, ValueError, RuntimeError) as error:  # links that lead in a circle
        raise _unwritable(f"{flag}: ", name, error) from None
    return file


def write_file(file: "str | PathLike[str]", content: str | bytes) -> None:
    """Write a file whole, or leave what was there. A device is written to.

    Raises UnusableFileError.
    """
    data = content
    if isinstance(data, str):
        data = data.encode()
    try:
        target = Path(file).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise _unwritable("", file, error) from None


def _replace(target: Path, data: bytes) -> None:
    """Write a file beside the target and put it in its place."""
    part = target.with_name(f"{target.name}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _unwritable(
    where: str,
    file: object,
    error: Exception,
) -> UnusableFileError:
    detail = f"{where}cannot write {file}: {_reason_of(error)}"
    return UnusableFileError("invalid_request", detail)


def _reason_of(error: Exception) -> str:
    reason = str(error)
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    return reason.lower()
