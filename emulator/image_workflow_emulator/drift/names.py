"""Recorded ids, links and tokens, and the emulator's own values that stand for them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from image_workflow_emulator.client.control_client import Answer
from image_workflow_emulator.drift.traffic import RecordedCall


class _Pair(NamedTuple):
    """Two texts at the same place of two answers, and the member that holds them."""

    member: str
    recorded: str
    own: str


class Names:
    """The mapping between recorded values and the emulator's, learnt from answers."""

    def __init__(self) -> None:
        self.own: dict[str, str] = {}
        """The emulator's value for each recorded one."""
        self.recorded: dict[str, str] = {}
        """The recorded id for each id of the emulator."""

    def bind(self, recorded: str, own: str) -> None:
        """Let an id of the emulator stand for a recorded one."""
        self.own[recorded] = own
        self.recorded[own] = recorded

    def learn(self, call: RecordedCall, answer: Answer) -> None:
        """Learn from a recorded answer and the emulator's answer to the same call."""
        is_own_success = 200 <= answer.status < 300
        if call.is_success and is_own_success:
            for pair in _pairs("", call.answer, answer.json):
                self._learn_pair(pair)
        if call.surface == "download":
            self._learn_target(call, answer)

    def _learn_pair(self, pair: _Pair) -> None:
        if not is_name(pair.member):
            return
        if not is_identifier(pair.member):
            self.own.setdefault(pair.recorded, pair.own)
            return
        is_new = pair.recorded not in self.own
        if is_new and pair.own not in self.recorded:
            self.bind(pair.recorded, pair.own)

    def _learn_target(self, call: RecordedCall, answer: Answer) -> None:
        """Learn where a download is redirected to."""
        recorded = call.response_headers.get("location")
        own = answer.headers.get("location")
        if recorded and own:
            self.own.setdefault(recorded, own)

    def own_or_same(self, recorded: str) -> str:
        """Return the emulator's value for a recorded one; itself if it has none."""
        return self.own.get(recorded, recorded)

    def translated(self, value: Any) -> Any:
        """Return some JSON with the emulator's values in place of recorded ones."""
        if isinstance(value, dict):
            return {member: self.translated(inner) for member, inner in value.items()}
        if isinstance(value, list):
            return [self.translated(item) for item in value]
        if isinstance(value, str):
            return self.own_or_same(value)
        return value

    def may_be_same(self, recorded: str, own: str) -> bool:
        """Whether nothing that was learnt forbids that two values stand for each other."""
        expected = self.own.get(recorded, own)
        origin = self.recorded.get(own, recorded)
        return expected == own and origin == recorded


def _pairs(
    member: str,
    recorded: Any,
    own: Any,
) -> Iterator[_Pair]:
    """Iterate over the texts at the same places of two answers."""
    match recorded, own:
        case dict(), dict():
            for name, value in recorded.items():
                # The items of a list may stand in another order.
                if name in own and name != "data":
                    yield from _pairs(name, value, own[name])
        case list(), list():
            for recorded_item, own_item in zip(recorded, own, strict=False):
                yield from _pairs(member, recorded_item, own_item)
        case str(), str() if recorded:
            yield _Pair(member, recorded, own)


def is_name(member: str) -> bool:
    """Whether a member of an answer holds an id, a link, a cursor or a token."""
    if is_identifier(member):
        return True
    if member in ("next_cursor", "upload_token"):
        return True
    return member.endswith(("url", "urls"))


def is_identifier(member: str) -> bool:
    """Whether a member of an answer holds the ids of resources."""
    if member == "request_id":
        return False
    return member == "id" or member.endswith(("_id", "_ids"))
