"""The answers that are kept: which, how many bytes, and what tells jobs apart."""

import pytest

from image_workflow_emulator.imaging.done_jobs import DoneJobs, digest_of
from image_workflow_emulator.imaging.messages import Message


def answer_of(size_bytes: int) -> Message:
    return {}, [b"x" * size_bytes]


def test_an_answer_is_kept() -> None:
    jobs = DoneJobs(1_000)
    answer = answer_of(10)

    jobs.keep(b"a", answer)

    assert jobs.answer_to(b"a") is answer
    assert jobs.answer_to(b"b") is None


def test_the_answer_that_was_asked_for_last_is_kept_longest() -> None:
    jobs = DoneJobs(1_000)
    for job in (b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"):
        jobs.keep(job, answer_of(120))
    jobs.answer_to(b"a")

    jobs.keep(b"i", answer_of(120))

    assert jobs.answer_to(b"a") is not None
    assert jobs.answer_to(b"b") is None
    assert jobs.answer_to(b"i") is not None


def test_an_answer_that_is_kept_again_counts_once() -> None:
    jobs = DoneJobs(1_000)
    jobs.keep(b"a", answer_of(120))

    for _ in range(20):
        jobs.keep(b"b", answer_of(120))

    assert jobs.answer_to(b"a") is not None


def test_an_answer_that_would_displace_many_is_not_kept() -> None:
    jobs = DoneJobs(1_000)

    jobs.keep(b"a", answer_of(124))

    assert jobs.answer_to(b"a") is None


@pytest.mark.parametrize(
    "other",
    [
        ({"job": "examine"}, [b"ab", b"c"]),
        ({"job": "render"}, [b"a", b"bc"]),
        ({"job": "render"}, [b"ab", b"c", b""]),
        ({"job": "render"}, [b"ab", b"d"]),
    ],
)
def test_jobs_with_other_heads_or_parts_have_other_digests(other: Message) -> None:
    job = ({"job": "render"}, [b"ab", b"c"])

    assert digest_of(*job) == digest_of(*job)
    assert digest_of(*job) != digest_of(*other)
