"""A write that comes again after a 429, by how soon and on which connection.

The records of its requests are made here, since the limit is one of milliseconds.
"""

from typing import Final

import pytest

from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.resources import Operation, UploadSession
from image_workflow_emulator.examiner.conduct import judge
from image_workflow_emulator.examiner.findings import Conduct
from image_workflow_emulator.service.records.record import RequestRecord

EARLY: Final = "retry-before-retry-after"
REFUSED_AT: Final = 1_000
TOOK_MS: Final = 20
ANSWERED_AT: Final = REFUSED_AT + TOOK_MS


class NothingElse:
    """No work and no upload."""

    def find_work(self, identifier: str) -> Operation | None:
        return None

    def find_upload(self, identifier: str) -> UploadSession | None:
        return None


def write(
    sequence: int,
    at: int,
    connection: str,
    *,
    is_timed: bool = True,
) -> RequestRecord:
    """Return a write that was sent with the key `one`, and answered at once."""
    return RequestRecord(
        sequence=sequence,
        at=at,
        arrived_ms=float(at),
        left_at=at + TOOK_MS,
        duration_ms=float(TOOK_MS),
        last_arrival=sequence,
        is_timed=is_timed,
        request_id=f"req_{sequence}",
        method="POST",
        path="/v1/products",
        operation="createProduct",
        key_header=b"one",
        connection=connection,
        outcome="answered",
        status=201,
    )


def refused(
    sequence: int,
    at: int,
    connection: str,
    *,
    is_timed: bool = True,
) -> RequestRecord:
    record = write(sequence, at, connection, is_timed=is_timed)
    record.status = 429
    record.problem = Problem("rate_limited", "too many")
    record.response_headers = ((b"retry-after", b"10"),)
    return record


def judged(*records: RequestRecord) -> Conduct:
    return judge(records, NothingElse(), now=20_000, has_ended=True)


def rules_broken(conduct: Conduct) -> list[str]:
    return [finding.rule for finding in conduct.findings]


def test_a_write_that_comes_again_on_its_connection_is_too_early_at_once() -> None:
    conduct = judged(
        refused(1, REFUSED_AT, connection="a"),
        write(2, ANSWERED_AT + 1, connection="a"),
    )

    assert rules_broken(conduct) == [EARLY]


@pytest.mark.parametrize("pause_ms", [100, 499])
def test_a_write_that_comes_again_on_another_connection_is_too_early(
    pause_ms: int,
) -> None:
    conduct = judged(
        refused(1, REFUSED_AT, connection="a"),
        write(2, ANSWERED_AT + pause_ms, connection="b"),
    )

    assert rules_broken(conduct) == [EARLY]


@pytest.mark.parametrize("pause_ms", [1, 99])
def test_a_write_that_may_have_been_sent_before_the_refusal_was_received_is_not(
    pause_ms: int,
) -> None:
    conduct = judged(
        refused(1, REFUSED_AT, connection="a"),
        write(2, ANSWERED_AT + pause_ms, connection="b"),
    )

    assert rules_broken(conduct) == []


def test_a_write_that_was_in_flight_with_the_refused_one_is_not_too_early() -> None:
    first = refused(1, REFUSED_AT, connection="a")
    first.last_arrival = 2

    conduct = judged(first, write(2, REFUSED_AT + 5, connection="b"))

    assert rules_broken(conduct) == []


def test_a_write_that_waited_is_an_occasion() -> None:
    conduct = judged(
        refused(1, REFUSED_AT, connection="a"),
        write(2, ANSWERED_AT + 10_000, connection="b"),
    )

    assert rules_broken(conduct) == []
    assert conduct.checked[EARLY] == 1


def test_a_third_write_at_once_is_too_early_though_a_second_may_be() -> None:
    conduct = judged(
        refused(1, REFUSED_AT, connection="a"),
        refused(2, ANSWERED_AT + 30, connection="b"),
        write(3, ANSWERED_AT + 80, connection="c"),
    )

    (finding,) = conduct.findings
    assert finding.rule == EARLY
    assert finding.requests == [1, 2, 3]


def test_nothing_is_checked_on_an_auto_clock() -> None:
    conduct = judged(
        refused(1, REFUSED_AT, connection="a", is_timed=False),
        write(2, ANSWERED_AT + 1, connection="a", is_timed=False),
    )

    assert rules_broken(conduct) == []
    assert conduct.checked[EARLY] == 0
    assert EARLY in conduct.not_checked
