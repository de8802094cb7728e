"""What becomes of a defect of the emulator's own: a line in the log, and the problem `internal_error` (section 7)."""

import logging

from emulator.domain.problems import Problem
from emulator.http.requests import Request

_LOGGER = logging.getLogger("emulator.http")


def internal_error(error: Exception, request: Request, request_id: str) -> Problem:
    """Log what went wrong, and return the problem to be answered with."""
    _LOGGER.error("%s %s failed (%s)", request.method, request.path, request_id, exc_info=error)
    return Problem("internal_error", "the emulator failed; its log has the cause")
