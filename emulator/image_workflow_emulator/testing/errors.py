"""The errors of a program that uses an emulator."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

NO_ANSWER = "no_answer"
"""The code of an error that no emulator answered with: there is none at the address, or something else answers
there.
"""
NOT_STARTED = "not_started"
"""The code of an emulator that could not be started: an option or a file that cannot be used, a port that is taken."""


def unwritable(file: object, error: Exception) -> str:
    """Say that a file cannot be written."""
    return f"cannot write {file}: {(getattr(error, 'strerror', None) or str(error)).lower()}"


def unreadable(error: OSError) -> str:
    """Say that a file cannot be read."""
    return f"cannot read {error.filename}: {(error.strerror or str(error)).lower()}"


class EmulatorError(Exception):
    """The emulator refused what was asked of it, or does not answer.

    `code` is the control plane's (`invalid_request`, `invalid_scenario`, `not_found`, ...), or `no_answer` or
    `not_started` where no emulator answered. `detail` says where, what was found and what was expected. `status` is the
    HTTP status, None where there was none.

        >>> create_app().sandbox.key("iwe_nobody")
        Traceback (most recent call last):
        image_workflow_emulator.testing.errors.EmulatorError: 'iwe_nobody': ...
    """

    def __init__(self, code: str, detail: str, status: int | None = None) -> None:
        super().__init__(code, detail, status)
        self.code = code
        self.detail = detail
        self.status = status

    def __str__(self) -> str:
        return f"{self.detail} ({self.status} {self.code})" if self.status else self.detail


def is_refusal(found: "pytest.ExceptionInfo[BaseException] | None") -> bool:
    """Whether an error is an EmulatorError: the files that raise it then hide their lines from pytest's tracebacks."""
    return found is not None and isinstance(found.value, EmulatorError)


class UnusableFileError(EmulatorError):
    """A file on this machine that cannot be used: it cannot be read or written, or has the wrong form."""
