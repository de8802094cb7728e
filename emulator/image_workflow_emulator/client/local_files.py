"""The errors of a program that uses an emulator, and its files, which are read and written whole."""

import os
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

from image_workflow_emulator.documents.document import MAX_BYTES

NO_ANSWER: Final = "no_answer"
"""The code of an error that no emulator answered with: there is none at the address, or something else answers
there.
"""
NOT_STARTED: Final = "not_started"
"""The code of an emulator that could not be started: an option or a file that cannot be used, a port that is taken."""


class EmulatorError(Exception):
    """The emulator refused what was asked of it, or does not answer.

    `code` is the control plane's (`invalid_request`, `invalid_scenario`, `not_found`, ...), or `no_answer` or
    `not_started` where no emulator answered. `detail` says where, what was found and what was expected. `status` is the
    HTTP status, None where there was none.

        >>> create_app().sandbox.key("iwe_nobody")
        Traceback (most recent call last):
        image_workflow_emulator.client.local_files.EmulatorError: 'iwe_nobody': ...
    """

    def __init__(self, code: str, detail: str, status: int | None = None) -> None:
        super().__init__(code, detail, status)
        self.code, self.detail, self.status = code, detail, status

    def __str__(self) -> str:
        return (
            f"{self.detail} ({self.status} {self.code})" if self.status else self.detail
        )


class UnusableFileError(EmulatorError):
    """A file on this machine that cannot be used: it cannot be read or written, or has the wrong form."""


def is_refusal(found: Any) -> bool:
    """Whether pytest found an EmulatorError: the files that raise it then hide their lines from its tracebacks."""
    return found is not None and isinstance(found.value, EmulatorError)


__tracebackhide__ = is_refusal


def unreadable(error: OSError) -> str:
    """Say that a file cannot be read."""
    return f"cannot read {error.filename}: {(error.strerror or str(error)).lower()}"


def read_file(file: "str | PathLike[str]", most_bytes: int = MAX_BYTES) -> bytes:
    """Return what a file holds. Raises UnusableFileError if it cannot be read, or is larger than any of its kind."""
    try:
        with Path(file).open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size  # a device says 0
            data = b"" if size > most_bytes else opened.read(most_bytes + 1)
    except OSError as error:
        raise UnusableFileError("not_found", unreadable(error)) from None
    if (found := max(len(data), size)) > most_bytes:
        raise UnusableFileError(
            "invalid_request",
            f"{fspath(file)}: found {found} bytes; expected at most {most_bytes}",
        )
    return data


def read_state_file(file: "str | PathLike[str]") -> bytes:
    """Return what a state file holds. Raises UnusableFileError for one that cannot be read, or has no end."""
    if Path(file).exists() and not Path(file).is_file():
        raise UnusableFileError(
            "invalid_request",
            f"{fspath(file)}: expected a file, not a device or a pipe",
        )
    return read_file(file, 4 * 2**30)


def check_writable(flag: str, name: str) -> Path:
    """Return the file that an option names, which can be written as far as can be known before.

    Raises UnusableFileError.
    """
    file = Path(name)
    try:
        target, is_new = (
            file.resolve(),
            not file.exists(),
        )  # a link may name a file that is not there yet
        target.open("ab").close()
        if is_new:
            target.unlink()
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # the last for links that lead to each other
        raise _unwritable(f"{flag}: ", name, error) from None
    return file


def write_file(file: "str | PathLike[str]", content: str | bytes) -> None:
    """Write a file whole, or leave what was there; what is not a regular file, such as a device, is written to.

    Raises UnusableFileError.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        target = Path(file).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        beside = target.with_name(f"{target.name}.part")
        try:
            beside.write_bytes(data)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable("", file, error) from None


def _unwritable(where: str, file: object, error: Exception) -> UnusableFileError:
    why = (getattr(error, "strerror", None) or str(error)).lower()
    return UnusableFileError("invalid_request", f"{where}cannot write {file}: {why}")
