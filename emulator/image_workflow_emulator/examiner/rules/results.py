"""Rules about unfinished business: abandoned uploads and work, pictures never fetched, subjects left out."""

import re
from itertools import chain
from typing import Final

import orjson

from image_workflow_emulator.domain.resources import Generation
from image_workflow_emulator.examiner import facts
from image_workflow_emulator.examiner.facts import POLLS
from image_workflow_emulator.examiner.history import History
from image_workflow_emulator.examiner.rules.rule import KEPT, Verdict, Verdicts, breach
from image_workflow_emulator.service.records.record import RequestRecord

_LISTS: Final = ("listOperations", "listGenerations")
_READS: Final = (*POLLS, *_LISTS)
_TEXT: Final = re.compile(rb'"([\w-]+)"')


def abandoned_upload(history: History) -> Verdicts:
    """An Upload Session is opened and never completed.

    Whether it will be completed is known ten minutes of emulator time after its window, or at the end of the run.
    Sessions whose address never reached the client, whose bytes or completion were refused or lost, and those of
    clients whose last request failed, are not abandoned. One that came too late is reported as `upload-after-window`.
    """
    asked = [
        *history.by_operation.get("createUpload", ()),
        *history.by_operation.get("completeUpload", ()),
    ]
    sent = (
        record
        for record in history.by_operation.get(None, ())
        if record.byte_surface == "upload"
    )
    for session_id, records in facts.grouped((*asked, *sent), facts.upload_id).items():
        session = history.works.find_upload(session_id or "")
        opened = next(
            (record for record in records if facts.is_answered(record, 201)), None
        )
        if session is None or opened is None:
            continue
        tried = [record for record in records if record.operation != "createUpload"]
        if any(
            record.operation == "completeUpload" or not facts.is_success(record)
            for record in tried
        ):
            yield KEPT
        elif history.is_over(session.expires_at) and not history.ended_in_failure(
            opened
        ):
            done = (
                "its bytes were sent, but it was not completed"
                if tried
                else "nothing was sent to it"
            )
            yield breach(f"{session_id} was opened and left: {done}", opened)


def abandoned_work(history: History) -> Verdicts:
    """Work is admitted, and its end is never read.

    Its admission was answered, so the client knows its id. The end is read if an answer to any client shows it, by
    itself or in a list. That it will not be read is known ten minutes of emulator time after the end of the work, or at
    the end of the run. Work that has not finished counts only if it was never read at all: a client that has polled may
    stop. An admission that was answered after its client had sent it again was not heard. A last read that failed is an
    excuse. A client that reads no work at all may leave that to another system: of it, it is a note. A client that was
    shut out, or that ended with a failure, is excused.
    """
    lists = chain.from_iterable(history.by_operation.get(name, ()) for name in _LISTS)
    listed_at = max(
        (record.left_at for record in lists if facts.is_success(record)), default=0
    )
    readers = {
        history.client(record)
        for name in _READS
        for record in history.by_operation.get(name, ())
    }
    polls_of = facts.grouped(
        (poll for polls in history.polls.values() for poll in polls), facts.work_id
    )
    for admitted, work in {
        work.id: (admitted, work) for admitted, work in reversed(history.admitted)
    }.values():
        if work.id in history.seen_to_end:
            yield KEPT
            continue
        polls = polls_of.get(work.id, ())
        if work.finished_at is None:
            is_left = history.has_ended and not polls
        else:
            is_left = history.is_over(work.finished_at) and listed_at < work.finished_at
        is_read_in_vain = bool(polls) and not facts.is_success(polls[-1])
        if is_left and not (
            is_read_in_vain
            or _was_asked_again(history, admitted)
            or _is_excused(history, admitted)
        ):
            is_reader = history.client(admitted) in readers
            message = f"{work.id} was admitted, and its end was never read"
            words = message if is_reader else f"{message}; another system may read it"
            yield breach(words, admitted, severity=None if is_reader else "note")


def _was_asked_again(history: History, admitted: RequestRecord) -> bool:
    """Whether the same request had come again when its admission was answered: its client had hung up."""
    same = history.same_request(admitted)
    return any(
        admitted.sequence < record.sequence <= admitted.last_arrival for record in same
    )


def _is_excused(history: History, admitted: RequestRecord) -> bool:
    return history.was_shut_out(admitted) or history.ended_in_failure(admitted)


def unfetched_pictures(history: History) -> Verdicts:
    """A client that fetches pictures leaves finished ones behind, which are paid for.

    A picture is fetched if any request is about it: for its file or its Asset, or one that uses it for other work.
    Where no picture of any Generation is fetched, another system may do it, so nothing is said. Pictures whose end
    nobody saw are `abandoned-work`; a client that was shut out or ended with a failure is excused.
    """
    bodies = (record.request_body for record in history.with_key if record.request_body)
    named = {text.decode() for body in bodies for text in _TEXT.findall(body)}
    for (
        record
    ) in history.records:  # paths end with ids, those of files with more behind it
        name = record.path.rpartition("/")[2]
        named |= {name, name.rpartition("-")[0]}
    found: list[Verdict] = []
    for admitted, work in history.admitted:
        if (
            not isinstance(work, Generation)
            or work.finished_at is None
            or work.id not in history.seen_to_end
        ):
            continue
        made = [
            output.asset_id for output in work.outputs if output.asset_id is not None
        ]
        left = [picture for picture in made if picture not in named]
        if len(left) < len(made):
            found.append(KEPT)
        message = f"{len(left)} of {len(made)} finished pictures of {work.id} were never fetched"
        if (
            left
            and history.is_over(work.finished_at)
            and not _is_excused(history, admitted)
        ):
            found.append(breach(message, admitted))
    if KEPT in found:
        yield from found


def cut_subjects(history: History) -> Verdicts:
    """More Products and Assets are asked for than one Generation takes.

    Five photos are packed; what exceeds them is left out of resolved_asset_ids, and the pictures are charged without it
    (D32). Only what is left out for sure counts: an Asset that was asked for and is not there, or more Products than
    there are photos. Further views of a Product that do not fit are no loss.
    """
    for record in history.by_operation.get("createProductPhotographyGeneration", ()):
        is_admitted = record.is_committed and facts.is_answered(record, 202)
        admitted = record.answer.get("resolved_asset_ids") if is_admitted else None
        if admitted is not None:
            asked = orjson.loads(record.request_body or b"{}")
            assets, products = (
                asked.get("asset_ids") or (),
                asked.get("product_ids") or (),
            )
            left_out = max(
                len(set(assets) - set(admitted)), len(products) - len(admitted)
            )
            subjects = f"{left_out} of {len(assets) + len(products)} subjects are not in the pictures"
            yield (
                breach(f"{subjects}: five photos are the cap", record)
                if left_out > 0
                else KEPT
            )
