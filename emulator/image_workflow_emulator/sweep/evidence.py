"""What a run leaves, and what it shows: the notes of the plugin in a run of pytest, the journals of sandboxes, the
calls in them and what these made.

Owns the files through which a sweep and its plugin exchange data; no part of pytest is imported here. A journal is the
JSON of recorded requests. Calls are counted as a scenario counts them: a request counts once its credential and rate
were accepted, for each Team by itself. Work counts once it was admitted. What was made are Products and work; a lost
answer must not make more of them. Work that a fault of the sweep let fail was made in vain. Must not know which faults
are tried.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct, field, json

from image_workflow_emulator.domain.problems import CATALOGUE, ENTRANCE_CHECKS, Check
from image_workflow_emulator.kernel.timestamps import parse_timestamp

FOLDER_VARIABLE: Final = "IMAGE_WORKFLOW_SWEEP"
"""Names the folder of a run to the plugin."""
TASKS: Final = "tasks.json"
"""The file with what is to be run: by place its `tests` and the `scenario` of its sandboxes. The clean run has none."""
NOTES: Final = "notes"
"""The file to which the plugin adds lines of JSON: what began, how it ended, and the journals of sandboxes."""
Entry: TypeAlias = Mapping[str, Any]
"""A request of the journal, as `requests` shows it."""
_ORDER: Final = tuple(Check)
MADE_TWICE: Final = "made-twice"
"""The rule that is broken where more was made than in the clean run."""


class Place(Struct):
    """What happened in the sandboxes of one test, of a fixture that tests share, or of the command."""

    tests: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By their ids, how they ended: `failed` and `seconds`."""
    journals: list[Sequence[Entry]] = field(default_factory=list)
    findings: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """How long the longest of its tests took."""
        return max((ended["seconds"] for ended in self.tests.values()), default=0.0)

    @property
    def longest_pause_seconds(self) -> float:
        """The longest time between two requests."""
        arrivals = [
            [parse_timestamp(entry["arrived_at"]) for entry in journal]
            for journal in self.journals
        ]
        return (
            max(
                (
                    after - before
                    for times in arrivals
                    for before, after in pairwise(times)
                ),
                default=0,
            )
            / 1000
        )


def places_of(folder: Path) -> tuple[dict[str, Place], set[str]]:
    """Return what the plugin noted in the folder of a run, by place, and the tests that have begun and not ended."""
    places: dict[str, Place] = {}
    begun: set[str] = set()
    file = folder / NOTES
    lines = (
        file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    )  # one that a signal cut off is no line
    for row in map(json.decode, lines):
        if "begun" in row:
            begun.add(row["begun"])
        elif "test" in row:
            begun.discard(row["test"])
            for name in row["places"]:
                places.setdefault(name, Place()).tests[row["test"]] = row
        else:
            place = places.setdefault(row["place"], Place())
            place.journals.append(row["requests"])
            place.findings += row["findings"]
    return places, begun


class Call(Struct, eq=False):
    """The Nth call of an operation or byte surface."""

    operation: str
    number: int
    is_read: bool
    refusal: str | None
    """The code that it was refused with."""
    carried_out: int
    """Which of those that were carried out it is; 0 if it was refused. Rules that act
    after the commit count these alone."""

    def can_return(self, code: str) -> bool:
        """Tell whether a scenario could have caused a problem: an earlier refusal still comes first."""
        if self.refusal is None or code == "internal_error":
            return True
        return _ORDER.index(CATALOGUE[code].check) <= _ORDER.index(
            CATALOGUE[self.refusal].check
        )


class Work(Struct, eq=False):
    """The Nth work that an operation admitted, with its kind and its outputs; an Operation has none."""

    operation: str
    number: int
    kind: str
    outputs: int


def calls_of(journal: Sequence[Entry]) -> Iterator[Call]:
    """Iterate over the calls of a sandbox."""
    numbers: Counter[tuple[str, str]] = Counter()
    carried_out: Counter[tuple[str, str]] = Counter()
    for entry in filter(_is_counted, journal):
        name, credential = entry["operation"] or entry["bytes"], entry["credential"]
        team = credential["team"]["id"] if credential else ""
        numbers[team, name] += 1
        refusal = None if entry["rule"] else entry["code"]
        is_refused = refusal is not None
        carried_out[team, name] += not is_refused
        yield Call(
            operation=name,
            number=numbers[team, name],
            is_read=entry["method"] in ("GET", "HEAD"),
            refusal=refusal,
            carried_out=0 if is_refused else carried_out[team, name],
        )


def works_of(journal: Sequence[Entry]) -> Iterator[Work]:
    """Iterate over the work of a sandbox."""
    numbers: Counter[str] = Counter()
    for entry in journal:
        body = entry.get("response_body")
        if (
            entry["status"] == 202
            and not entry["replayed"]
            and isinstance(body, Mapping)
        ):
            kind = str(body.get("workflow") or body.get("type"))
            numbers[kind] += 1
            yield Work(
                entry["operation"], numbers[kind], kind, len(body.get("outputs") or ())
            )


def lives_of(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Divide the requests to all sandboxes by sandbox; a reset begins the journal of one again."""
    lives: dict[tuple[str, int], list[Entry]] = {}
    begun: Counter[str] = Counter()
    for entry in entries:
        begun[entry["sandbox"]] += entry["sequence"] == 1
        lives.setdefault((entry["sandbox"], begun[entry["sandbox"]]), []).append(entry)
    return [*lives.values()]


def made_twice(
    clean: Sequence[Sequence[Entry]], run: Sequence[Sequence[Entry]]
) -> Iterator[dict[str, Any]]:
    """Yield a finding if the journals of a run show more that was made than those of the clean run, and not taken
    back.
    """
    if max(len(clean), len(run)) > 1 and len(clean) != len(run):
        return  # tests shared sandboxes in another way
    usual, made = _made(clean), _made(run)
    more = made - usual
    more["createProduct"] -= more.pop("deleteProduct", 0)
    excess = ", ".join(
        f"{name} {made[name]} times instead of {usual[name]}" for name in +more
    )
    if excess:
        yield {
            "rule": MADE_TWICE,
            "severity": "error",
            "message": f"more was made than without the fault: {excess}",
            "remedy": "repeat a write whose effect is unknown with the Idempotency-Key of its first attempt",
        }


def _made(journals: Sequence[Sequence[Entry]]) -> Counter[str]:
    """Return how many Products and works each operation made or deleted, in the sandbox that had most."""
    most = Counter[str]()
    for journal in journals:
        most |= Counter(filter(None, map(_made_by, journal)))
    return most


def _is_counted(entry: Entry) -> bool:
    """Tell whether a scenario counts a request."""
    is_bytes, code = bool(entry["bytes"]), entry["code"]
    if entry["emulator_fault"] or not (
        is_bytes or (entry["operation"] and entry["credential"])
    ):
        return False
    return (
        entry["rule"] is not None
        or code not in CATALOGUE
        or CATALOGUE[code].check not in ENTRANCE_CHECKS
    )


def _made_by(entry: Entry) -> str | None:
    """Return the operation that made a Product or work, or deleted a Product; None if the request did neither."""
    was_in_vain = entry["rule"] is not None and ":fail-" in entry["rule"]["name"]
    is_counted = entry["work"] or entry["operation"] in (
        "createProduct",
        "deleteProduct",
    )
    return (
        entry["operation"]
        if entry["committed"] and is_counted and not was_in_vain
        else None
    )
