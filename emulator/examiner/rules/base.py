"""What a rule of conduct is: a name, a sentence of the specification, and a function from a history to its verdicts.

Theory of operation. A rule looks at the whole history of a sandbox (emulator/examiner/history.py), and yields a verdict
for each time that it could have been broken: KEPT, or a Breach. It keeps nothing from one examination to the next, so a
breach that turns out to be none (a retry that came late, but came) is gone at the next examination. A rule that cannot
be sure yields nothing: a false alarm costs more than a mistake that is missed.

A new rule is one file in this folder with its two examples, a line in `registry`, and a section of docs/conduct.md.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field

from emulator.examiner.history import History

Severity = Literal["error", "warning", "note"]
"""`error`: it costs money, leaks a credential, or gets a client banned. `note`: it is only wasteful."""


class Breach(Struct, frozen=True):
    """A rule was broken. Breaches about one subject make one finding, with the message of the first."""

    subject: str
    requests: tuple[int, ...]
    message: str
    severity: Severity | None = None
    """Replaces the severity of the rule."""
    rule: str | None = None
    """The name of the finding, where it is not the rule's."""
    times: int = 1
    """How many verdicts it stands for."""


KEPT: Final = None
"""The verdict on a client that kept the rule."""
Verdict: TypeAlias = Breach | None


class Ask(Struct, frozen=True):
    """A step of an example: a request. `{...}` in path and body stands for a value of an earlier answer.

    `asset`: a file that was uploaded before. `upload`, `upload_url`, `token`: of the last Upload Session. `work`: the path of
    the last admitted work. `file`: the address of the Asset's file. `cursor`: to the next page of the last list.
    """

    method: str
    path: str
    body: Mapping[str, Any] | bytes | None = None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    credential: bool = True


class Wait(Struct, frozen=True):
    """A step of an example: the emulator's clock moves."""

    seconds: float


class Example(Struct, frozen=True):
    """The requests of a client on a manual clock, and the faults meanwhile."""

    steps: tuple[Ask | Wait, ...]
    rules: tuple[Mapping[str, Any], ...] = ()
    """The rules of the scenario that runs."""


class Rule(Struct, frozen=True):
    """A rule of conduct. `source` is the sentence of the specification that it follows from."""

    name: str
    severity: Severity
    source: str
    remedy: str
    examine: Callable[[History], Iterator[Verdict]]
    breaks: Example
    keeps: Example
    is_timed: bool = False
    """Whether it measures how long a client waited, which an auto clock does not tell."""
    gives_way_to: str | None = None
    """The rule whose finding about the same subject says more, so that it stands alone."""


UPSCALE: Final = {"asset_id": "{asset}", "target_resolution": "2k", "output_format": "png"}
"""The body of the simplest work, for examples."""
OPEN_UPLOAD: Final = Ask("POST", "/uploads", {"content_type": "image/png", "size_bytes": "{size}"}, "one")
SEND_BYTES: Final = Ask("POST", "{upload_url}", b"{picture}", credential=False)
COMPLETE_UPLOAD: Final = Ask("POST", "/uploads/{upload}/complete", {"upload_token": "{token}"}, "two")


SEE: Final[tuple["Ask | Wait", ...]] = (Wait(20), Ask("GET", "{work}"))
"""Wait for the admitted work, and read its end."""


def upscale(key: str) -> Ask:
    """Return the request that admits the simplest work."""
    return Ask("POST", "/generations/upscale", UPSCALE, key)
