"""What closes a gap of the coverage: a scenario, the rule to write, a special request, or the call itself."""

from collections.abc import Mapping
from typing import Any, Final

from emulator.domain.problems import CATALOGUE
from emulator.examiner.points import BYTES, LOST, LOST_AFTER, LOST_BEFORE, REPLAY, work_of
from emulator.scenario.named_files import PROBLEM_PREFIX

_MOMENTS: Final = dict.fromkeys((LOST, LOST_BEFORE), "before_commit") | dict.fromkeys(
    (LOST_AFTER, REPLAY), "after_commit"
)
_REQUESTS: Final = {
    ("upload", "400 invalid_request"): "send more or fewer bytes than size_bytes",
    ("upload", "404 upload_not_found"): "send the bytes to upload.url with another last character",
    ("upload", "409 upload_bytes_conflict"): "send other bytes to an upload.url that has accepted some",
    ("upload", "410 upload_expired"): "send the bytes after upload.expires_at",
    ("download", "206"): "ask for a part of the file, with the header Range",
    ("download", "304"): "ask again with the header If-None-Match and the ETag of the first answer",
    ("download", "404 not_found"): "fetch the file of an Asset that was deleted",
    ("download", "416 invalid_request"): "ask for a part beyond the end of the file, with the header Range",
}
"""By byte surface and point: the request that no rule makes of a plain one."""


def closed_by(name: str, point: str) -> Mapping[str, Any]:
    """Return what closes the gap at a point of an operation or byte surface."""
    if (name, point) in _REQUESTS:
        return {"request": _REQUESTS[name, point]}
    match = {"bytes": name} if name in BYTES else {"operation": name}
    if point in _MOMENTS:
        return {"rule": {"match": match, "when": {"nth": 1}, "then": {"network": "reset", "at": _MOMENTS[point]}}}
    what, is_failure, code = point.partition(" failed")
    if is_failure:
        code = code.removeprefix(" with ") or "processing_failed"
        then = {"fail": code} if what == "work" else {"outputs": {"1": code}}
        return {"rule": {"match": {"work": work_of(name)}, "then": then}}
    code = point.partition(" ")[2]
    if code not in CATALOGUE:
        return {"call": True}
    if name in BYTES:
        return {"rule": {"match": match, "when": {"nth": 1}, "then": {"problem": code}}}
    return {"scenario": PROBLEM_PREFIX + code}
