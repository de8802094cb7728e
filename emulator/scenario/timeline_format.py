"""How a scenario file spells its timeline: changes of state, each with its time since the scenario began."""

from typing import Final, cast

from emulator.documents.complaints import one_of
from emulator.domain.resources import CredentialState, Profile
from emulator.scenario.changes import Admission, AdmissionChange, Change, CredentialChange, TimedChange
from emulator.scenario.reading import Cursor, Fields
from emulator.scenario.rule_format import read_team
from emulator.scenario.vocabulary import Vocabulary
from emulator.scenario.world import CREDENTIAL_STATES, PROFILES
from emulator.scenario.world_format import TEAM_KEYS, read_team_change

_SUBJECTS: Final = ("admission", "team", "credential")
_KEYS: Final = {
    "admission": ("admission", "retry_after"),
    "team": ("team", *(key for key in TEAM_KEYS if key != "credentials")),
    "credential": ("credential", "state", "expires_at", "profile"),
}
_ALL_KEYS: Final = tuple(dict.fromkeys(key for keys in _KEYS.values() for key in keys))


def read_timeline(cursor: Cursor, vocabulary: Vocabulary) -> tuple[TimedChange, ...]:
    """Read the list of changes, and put it in the order of time; changes of one time keep the order of the file."""
    changes = [_read_timed(item, vocabulary) for item in cursor.items("a list of changes") or ()]
    return tuple(sorted((change for change in changes if change), key=lambda change: change.at_ms))


def _read_timed(cursor: Cursor, vocabulary: Vocabulary) -> TimedChange | None:
    fields = cursor.fields(("at", "set"), required=("at", "set"))
    at_ms = fields.get("at", Cursor.duration_ms, 0)
    if "set" not in fields:
        return None
    change = _read_change(fields.cursors["set"], vocabulary)
    return None if change is None else TimedChange(at_ms, change, cursor.position.line)


def _read_change(cursor: Cursor, vocabulary: Vocabulary) -> Change | None:
    fields = cursor.fields(_ALL_KEYS)
    subjects = [subject for subject in _SUBJECTS if subject in fields]
    if not subjects:
        if fields.is_sound:
            cursor.complain(one_of(_SUBJECTS), found="nothing to set")
        return None
    subject = subjects[0]
    own = _KEYS[subject]
    fields.refuse([key for key in fields if key not in own], f"{one_of(own)}, as this sets the {subject}")
    if subject != "admission" and fields.is_sound and list(fields) == [subject]:
        cursor.complain(f"at least one of {', '.join(own[1:])}", found=f"only the {subject}")
    if subject == "admission":
        return _admission(fields)
    if subject == "team":
        team = fields.get("team", lambda at: read_team(at, vocabulary), "")
        return read_team_change(team, fields)
    return _credential(fields, vocabulary)


def _admission(fields: Fields) -> AdmissionChange:
    admission = cast(Admission, fields.get("admission", lambda at: at.word(("paused", "open")), "open"))
    if admission == "open":
        fields.refuse(["retry_after"], 'it only with "paused"')
    return AdmissionChange(admission, fields.get("retry_after", lambda at: at.integer(minimum=1), None))


def _credential(fields: Fields, vocabulary: Vocabulary) -> CredentialChange:
    known = vocabulary.world
    return CredentialChange(
        fields.get(
            "credential",
            lambda at: at.text("a key") if known is None else at.word(known.keys, "a key of the world"),
            "",
        ),
        cast(CredentialState | None, fields.get("state", lambda at: at.word(CREDENTIAL_STATES), None)),
        fields.get("expires_at", Cursor.instant, None),
        cast(Profile | None, fields.get("profile", lambda at: at.word(PROFILES), None)),
    )
