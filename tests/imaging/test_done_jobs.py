"""The answers that are kept: which, how many bytes, and what tells jobs apart."""

from pathlib import Path

import pytest

from image_workflow_emulator.imaging.done_jobs import DoneJobs, JobFolder, digest_of
from image_workflow_emulator.imaging.messages import Message

MAX_BYTES = 80_000


def answer_of(size_bytes: int) -> Message:
    return {}, [b"x" * size_bytes]


def test_an_answer_is_kept() -> None:
    jobs = DoneJobs(max_bytes=MAX_BYTES)
    answer = answer_of(10)

    jobs.keep(b"a", answer)

    kept = jobs.answer_to(b"a")
    of_another_job = jobs.answer_to(b"b")
    assert kept is answer
    assert of_another_job is None


def test_the_answer_that_was_asked_for_last_is_kept_longest() -> None:
    jobs = DoneJobs(max_bytes=MAX_BYTES)
    answer = answer_of(8_900)
    for job in (b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"):
        jobs.keep(job, answer)
    jobs.answer_to(b"a")

    jobs.keep(b"i", answer)

    assert jobs.answer_to(b"a") is not None
    assert jobs.answer_to(b"b") is None
    assert jobs.answer_to(b"i") is not None


def test_an_answer_that_is_kept_again_counts_once() -> None:
    jobs = DoneJobs(max_bytes=MAX_BYTES)
    answer = answer_of(8_900)
    jobs.keep(b"a", answer)

    for _ in range(20):
        jobs.keep(b"b", answer)

    assert jobs.answer_to(b"a") is not None


def test_an_answer_that_would_displace_many_is_not_kept() -> None:
    jobs = DoneJobs(max_bytes=MAX_BYTES)
    answer = answer_of(9_000)

    jobs.keep(b"a", answer)

    assert jobs.answer_to(b"a") is None


def test_answers_without_parts_take_memory_too() -> None:
    jobs = DoneJobs(max_bytes=MAX_BYTES)
    refusal: Message = ({"refusal": "no picture"}, [])

    for number in range(100):
        jobs.keep(b"%d" % number, refusal)

    assert jobs.answer_to(b"0") is None
    assert jobs.answer_to(b"99") is refusal


def test_emulators_with_one_folder_have_each_others_answers(tmp_path: Path) -> None:
    first = DoneJobs(JobFolder(tmp_path))
    second = DoneJobs(JobFolder(tmp_path))
    picture: Message = ({"width": 2}, [b"a", b"bc"])
    refusal: Message = ({"refusal": "no picture"}, [])

    first.keep(b"a", picture)
    first.keep(b"b", refusal)

    assert second.answer_to(b"a") == picture
    assert second.answer_to(b"b") == refusal
    assert second.answer_to(b"c") is None


def test_an_answer_whose_file_is_cut_off_is_not_there(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    folder.keep(b"a", answer_of(10))
    (file,) = tmp_path.iterdir()

    file.write_bytes(file.read_bytes()[:-1])

    assert folder.answer_to(b"a") is None


def test_a_file_that_goes_while_the_folder_is_counted_takes_no_room(
    tmp_path: Path,
) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")

    folder = JobFolder(tmp_path)

    folder.keep(b"a", answer_of(10))
    assert folder.answer_to(b"a") == answer_of(10)


def test_a_folder_holds_no_more_than_its_limit_whoever_fills_it(
    tmp_path: Path,
) -> None:
    first = JobFolder(tmp_path, max_bytes=20_000)
    first.keep(b"a", answer_of(10_000))
    second = JobFolder(tmp_path, max_bytes=20_000)

    second.keep(b"b", answer_of(12_000))

    assert second.answer_to(b"a") is not None
    assert second.answer_to(b"b") is None


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

    digest = digest_of(*job)
    digest_of_other = digest_of(*other)

    assert digest == digest_of(*job)
    assert digest != digest_of_other
