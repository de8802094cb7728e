"""Hooks of pytest that never raise.

An exception in most hooks ends the whole session of pytest with INTERNALERROR, for a
fault that is not the user's tests'. So what goes wrong in a hook of this package becomes
a section of a report. The plugin imports this in every run of pytest: it must not import
anything that pytest itself does not.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest

PROBLEMS: Final = pytest.StashKey[list[str]]()
"""What went wrong outside of any test. The plugin prints it in the summary."""


@contextmanager
def failures_told_to(report: Callable[[str], None]) -> Iterator[None]:
    """Give the text of what goes wrong in the block to `report`, and go on after it.

    What ends the session stays as it is: KeyboardInterrupt, SystemExit and `pytest.exit`.
    A failed or skipped outcome does not: a test may have replaced a function by one that
    calls `pytest.fail`.
    """
    try:
        yield
    except pytest.exit.Exception:
        raise
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
        report(error_text(error))


@contextmanager
def failures_in_summary(config: pytest.Config, task: str) -> Iterator[None]:
    """Note what goes wrong in the block, for the summary at the end of the session.

    `task` says what the block does, such as "the coverage cannot be written".
    """
    problems = config.stash.setdefault(PROBLEMS, [])
    with failures_told_to(lambda text: problems.append(f"{task}: {text}")):
        yield


def error_text(error: BaseException) -> str:
    """Return what an exception says, also if its own `__str__` fails.

    The text can be written in UTF-8, as pytest-xdist has to.
    """
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be read)"
    text = f"{type(error).__name__}: {message}".removesuffix(": ")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
