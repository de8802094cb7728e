"""The timeline of a scenario file: checks that a schema cannot express, and its form as data."""

import math
from collections.abc import Mapping
from typing import Any

from emulator.contract import Contract
from emulator.documents.document import Document
from emulator.documents.values import optional, parse_span_ms, parse_whole_number
from emulator.kernel.timestamps import parse_timestamp
from emulator.scenario.changes import AdmissionChange, After, Change, CredentialChange, TimedChange
from emulator.scenario.rule_format import read_match
from emulator.scenario.world_format import team_change


def read_timeline(document: Document, contract: Contract) -> tuple[TimedChange, ...]:
    """Read the changes, whose shape is valid, in the order of time; those of one time, and those after requests at
    the end, keep the order of the file.
    """
    changes = [
        TimedChange(
            _when(document, index, texts, contract),
            _change(texts["set"]),
            document.position("timeline", index).line,
            {**document.at("timeline", index), **({"at": texts["at"]} if "at" in texts else {})},
        )
        for index, texts in enumerate(document.texts.get("timeline", ()))
    ]
    return tuple(sorted(changes, key=lambda change: change.when if isinstance(change.when, int) else math.inf))


def _when(document: Document, index: int, texts: Mapping[str, Any], contract: Contract) -> int | After:
    if "at" in texts:
        return parse_span_ms(texts["at"])
    after = texts["after"]
    match = read_match(document, ("timeline", index, "after", "match"), after["match"], contract)
    return After(match, optional(after, "nth", parse_whole_number) or 1)


def _change(given: Mapping[str, Any]) -> Change:
    if "admission" in given:
        return AdmissionChange(given["admission"], optional(given, "retry_after", parse_whole_number))
    if "team" in given:
        return team_change(given["team"], given)
    return credential_change(given["credential"], given)


def credential_change(key: str, given: Mapping[str, Any]) -> CredentialChange:
    """Read the values of a credential under the keys that a timeline and the control plane share."""
    values = {name: given[name] for name in ("state", "profile") if name in given}
    if "expires_at" in given:
        values["expires_at"] = parse_timestamp(given["expires_at"])
    return CredentialChange(key, values)
