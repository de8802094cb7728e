"""Examples of the rules of conduct: a client that breaks a rule, and one that keeps it.

`ExampleClient` sends the requests, on a manual clock.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import Struct, field

from tests.support.emulator_client import Answer, Call
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.pictures import picture
from tests.support.served import ROOT


class Ask(Struct, frozen=True):
    """A step of an example: a request.

    `{...}` in path and body stands for something of an earlier answer. `asset`: a file
    that was uploaded before. `file`: its address. `upload`, `upload_url`, `token`: of
    the last Upload Session. `size`: that of its bytes. `work`: the path of the last
    admitted work. `cursor`: to the next page of the last list.
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


Step: TypeAlias = Ask | Wait
Rule: TypeAlias = Mapping[str, Any]
"""A rule of a scenario."""


class Example(Struct, frozen=True):
    """The requests of a client on a manual clock, and the faults meanwhile."""

    steps: Sequence[Step]
    rules: Sequence[Rule] = ()
    """The rules of the scenario that runs."""


class RuleExamples(NamedTuple):
    """A client that breaks a rule of conduct, and one that keeps it."""

    breaks: Example
    keeps: Example


# Steps --------------------------------------------------------------------------------

UPSCALE: Final = {
    "asset_id": "{asset}",
    "target_resolution": "2k",
    "output_format": "png",
}
"""The body of the simplest work."""
OPEN_UPLOAD: Final = Ask(
    method="POST",
    path="/uploads",
    body={"content_type": "image/png", "size_bytes": "{size}"},
    key="one",
)
SEND_BYTES: Final = Ask(
    method="POST",
    path="{upload_url}",
    body=b"{picture}",
    credential=False,
)
COMPLETE_UPLOAD: Final = Ask(
    method="POST",
    path="/uploads/{upload}/complete",
    body={"upload_token": "{token}"},
    key="two",
)
LOOK: Final = Ask("GET", "{work}")
LIST_OF_PRODUCTS: Final = Ask("GET", "/products")
SEE: Final[tuple[Step, ...]] = (Wait(20), LOOK)
"""Wait for the admitted work, and read its end."""


def upscale(key: str) -> Ask:
    """Return the request that admits the simplest work."""
    return Ask("POST", "/generations/upscale", UPSCALE, key)


def other_upscale(key: str) -> Ask:
    """Return a request that admits other work of this kind."""
    body = {**UPSCALE, "output_format": "jpeg"}
    return Ask("POST", "/generations/upscale", body, key)


def opened(*sizes: int) -> tuple[Ask, ...]:
    """Return requests that each open an Upload Session for one of the sizes."""
    requests = []
    for size in sizes:
        body = {"content_type": "image/png", "size_bytes": size}
        requests.append(Ask("POST", "/uploads", body, str(size)))
    return tuple(requests)


def backing_off(times: int) -> tuple[Step, ...]:
    """Return a read that is repeated after pauses which double, up to two minutes."""
    steps: list[Step] = []
    for number in range(times):
        pause = min(2**number, 120)
        steps.append(LIST_OF_PRODUCTS)
        steps.append(Wait(pause))
    return tuple(steps)


ORDER: Final = upscale("one")
MISSING: Final = Ask("GET", "/assets/ast_none")
LIST_OF_WORK: Final = Ask("GET", "/generations")
POSES: Final = Ask("GET", "/poses?limit=1&scope=all")


# Faults -------------------------------------------------------------------------------


def fault(then: Mapping[str, Any], nth: int | str = 1) -> Rule:
    """Return the rule of a scenario for the requests that `upscale` sends."""
    return {
        "match": {"operation": "createUpscaleGeneration"},
        "when": {"nth": nth},
        "then": then,
    }


LIMITED: Final = fault({"problem": "rate_limited", "retry_after": 10})
PAUSED: Final = fault({"problem": "service_unavailable", "retry_after": 5})
BROKEN: Final = fault({"problem": "internal_error"}, "1-4")
LOST_BEFORE: Final = fault({"problem": "internal_error", "at": "before_commit"})
LOST_AFTER: Final = fault({"problem": "internal_error", "at": "after_commit"})
FORBIDDEN: Final = {
    "match": {"operation": "createUpload"},
    "then": {"problem": "permission_denied"},
}
NO_PRODUCTS: Final = {
    "match": {"operation": "listProducts"},
    "when": {"nth": "1-30"},
    "then": {"problem": "internal_error"},
}


# The examples -------------------------------------------------------------------------

EXAMPLES: Final[Mapping[str, RuleExamples]] = {
    "double-spend": RuleExamples(
        breaks=Example(
            steps=[ORDER, upscale("two"), *SEE],
            rules=[LOST_AFTER],
        ),
        keeps=Example(
            steps=[ORDER, ORDER, *SEE],
            rules=[LOST_AFTER],
        ),
    ),
    "write-retried-with-new-key": RuleExamples(
        breaks=Example(
            steps=[ORDER, upscale("two"), *SEE],
            rules=[LOST_BEFORE],
        ),
        keeps=Example(
            steps=[ORDER, ORDER, *SEE],
            rules=[LOST_BEFORE],
        ),
    ),
    "credential-sent-to-bytes": RuleExamples(
        breaks=Example(
            steps=[Ask("GET", "{file}")],
        ),
        keeps=Example(
            steps=[Ask("GET", "{file}", credential=False)],
        ),
    ),
    "credential-in-request": RuleExamples(
        breaks=Example(
            steps=[Ask("GET", "/products?limit=5&api_key=iwe_demo_full")],
        ),
        keeps=Example(
            steps=[Ask("GET", "/products?limit=5")],
        ),
    ),
    "broken-id": RuleExamples(
        breaks=Example(
            steps=[Ask("GET", "/assets/undefined")],
        ),
        keeps=Example(
            steps=[Ask("GET", "/assets/{asset}")],
        ),
    ),
    "key-not-sent-again": RuleExamples(
        breaks=Example(
            steps=[ORDER],
            rules=[LOST_AFTER],
        ),
        keeps=Example(
            steps=[ORDER, ORDER, *SEE],
            rules=[LOST_AFTER],
        ),
    ),
    "key-reused": RuleExamples(
        breaks=Example(
            steps=[ORDER, other_upscale("one"), *SEE],
        ),
        keeps=Example(
            steps=[ORDER, *SEE, other_upscale("two"), *SEE],
        ),
    ),
    "key-after-retention": RuleExamples(
        breaks=Example(
            steps=[ORDER, *SEE, Wait(25 * 3600), ORDER, *SEE],
        ),
        keeps=Example(
            steps=[ORDER, *SEE, Wait(23 * 3600), ORDER],
        ),
    ),
    "retry-before-retry-after": RuleExamples(
        breaks=Example(
            steps=[ORDER, Wait(5), ORDER, *SEE],
            rules=[LIMITED],
        ),
        keeps=Example(
            steps=[ORDER, Wait(10), ORDER, *SEE],
            rules=[LIMITED],
        ),
    ),
    "poll-before-retry-after": RuleExamples(
        breaks=Example(
            steps=[ORDER, Wait(2), LOOK, Wait(1), LOOK, Wait(9), LOOK],
        ),
        keeps=Example(
            steps=[ORDER, Wait(2), LOOK, Wait(5), LOOK],
        ),
    ),
    "no-backoff": RuleExamples(
        breaks=Example(
            steps=[*(ORDER, Wait(1)) * 4, ORDER, *SEE],
            rules=[BROKEN],
        ),
        keeps=Example(
            steps=[
                ORDER,
                Wait(1),
                ORDER,
                Wait(2),
                ORDER,
                Wait(4),
                ORDER,
                Wait(8),
                ORDER,
                *SEE,
            ],
            rules=[BROKEN],
        ),
    ),
    "retry-of-the-hopeless": RuleExamples(
        breaks=Example(
            steps=[MISSING, MISSING, MISSING],
        ),
        keeps=Example(
            steps=[MISSING, MISSING, Ask("GET", "/assets")],
        ),
    ),
    "goes-on-after-refusal": RuleExamples(
        breaks=Example(
            steps=opened(101, 102, 103),
            rules=[FORBIDDEN],
        ),
        keeps=Example(
            steps=opened(101, 102),
            rules=[FORBIDDEN],
        ),
    ),
    "retries-without-end": RuleExamples(
        breaks=Example(
            steps=backing_off(23),
            rules=[NO_PRODUCTS],
        ),
        keeps=Example(
            steps=backing_off(8),
            rules=[NO_PRODUCTS],
        ),
    ),
    "gave-up-on-retryable": RuleExamples(
        breaks=Example(
            steps=[ORDER],
            rules=[PAUSED],
        ),
        keeps=Example(
            steps=[ORDER, Wait(5), ORDER, *SEE],
            rules=[PAUSED],
        ),
    ),
    "list-polled": RuleExamples(
        breaks=Example(
            steps=[ORDER, *(Wait(1), LIST_OF_WORK) * 4, Wait(20), LIST_OF_WORK],
        ),
        keeps=Example(
            steps=[ORDER, *(Wait(1), LIST_OF_WORK) * 3, Wait(20), LIST_OF_WORK],
        ),
    ),
    "upload-after-window": RuleExamples(
        breaks=Example(
            steps=[OPEN_UPLOAD, Wait(1000), SEND_BYTES],
        ),
        keeps=Example(
            steps=[OPEN_UPLOAD, Wait(800), SEND_BYTES, COMPLETE_UPLOAD],
        ),
    ),
    "abandoned-work": RuleExamples(
        breaks=Example(
            steps=[ORDER, Wait(1000)],
        ),
        keeps=Example(
            steps=[ORDER, Wait(1000), LOOK],
        ),
    ),
    "cursor-with-other-filters": RuleExamples(
        breaks=Example(
            steps=[POSES, Ask("GET", "/poses?limit=1&scope=global&after={cursor}")],
        ),
        keeps=Example(
            steps=[POSES, Ask("GET", "/poses?limit=2&scope=all&after={cursor}")],
        ),
    ),
    "poll-after-terminal": RuleExamples(
        breaks=Example(
            steps=[ORDER, Wait(10), LOOK, LOOK, LOOK, LOOK],
        ),
        keeps=Example(
            steps=[ORDER, Wait(10), LOOK, LOOK, LOOK],
        ),
    ),
    "abandoned-upload": RuleExamples(
        breaks=Example(
            steps=[OPEN_UPLOAD, SEND_BYTES],
        ),
        keeps=Example(
            steps=[OPEN_UPLOAD, SEND_BYTES, COMPLETE_UPLOAD],
        ),
    ),
}
"""The examples of each rule."""


LIBRARY: Final = sorted(file.stem for file in (ROOT / "scenarios").glob("*.yaml"))
"""The names of all scenarios that are shipped."""
SLOW: Final = ("silent-service", "slow-service")
"""Scenarios with waits in real time: they belong to `make verify`."""


def rules_found(service: EmulatorUnderTest, query: str = "?ended=true") -> list[str]:
    """Return the rule of each finding.

    They are those that would be found if the run ended now, unless the query says
    otherwise.
    """
    conduct = service.told("GET", f"/conduct{query}")
    return [finding["rule"] for finding in conduct["findings"]]


# The client ---------------------------------------------------------------------------


class ExampleClient:
    """Sends the steps of an example, and remembers what the next ones need."""

    def __init__(self, service: EmulatorUnderTest) -> None:
        self._service = service
        (asset,) = service.assets(1)
        url = service.get(f"/assets/{asset}").json["url"]
        self._remembered: dict[str, str] = {"asset": asset, "file": url}
        self._upload_headers: Mapping[str, str] = {}

    def play(self, example: Example) -> str:
        """Do all that the example says.

        Return it as lines: each request with its answer, and the waits.
        """
        if example.rules:
            rules = list(example.rules)
            self._service.use({"scenario": "example", "rules": rules})
        return "\n".join(self._do(step) for step in example.steps)

    def _do(self, step: Step) -> str:
        if isinstance(step, Wait):
            self._service.advance(step.seconds)
            return f"{step.seconds} s later"
        answer = self._service.send(self._call_of(step))
        self._remember(answer)
        return _line_of(step, answer)

    def _call_of(self, step: Ask) -> Call:
        headers = dict(step.headers)
        path = self._text(step.path)
        call = Call(step.method, path, headers=headers)
        call.idempotency_key = step.key
        if isinstance(step.body, bytes):
            call.content = picture()
            headers.update(self._upload_headers)
        elif step.body is not None:
            call.json = self._value(step.body)
        if not step.credential:
            call.key = None
        return call

    def _value(self, value: Any) -> Any:
        """Return a value of a body with what stands for earlier answers filled in."""
        if value == "{size}":
            return len(picture())
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, tuple):
            return [self._value(item) for item in value]
        if isinstance(value, Mapping):
            return {name: self._value(member) for name, member in value.items()}
        return value

    def _text(self, text: str) -> str:
        for name, remembered in self._remembered.items():
            text = text.replace(f"{{{name}}}", remembered)
        return text

    def _remember(self, answer: Answer) -> None:
        content_type = answer.headers.get("content-type")
        if answer.status >= 400:
            return
        if content_type != "application/json" or not answer.body:
            return
        body = answer.json
        kind = body.get("object")
        if kind == "upload":
            self._remembered["upload"] = body["id"]
            self._remembered["upload_url"] = body["upload"]["url"]
            self._upload_headers = body["upload"]["headers"]
        elif kind in ("generation", "operation"):
            self._remembered["work"] = f"/{kind}s/{body['id']}"
        if "upload_token" in body:
            self._remembered["token"] = body["upload_token"]
        page = body.get("page", {})
        cursor = page.get("next_cursor")
        if cursor is not None:
            self._remembered["cursor"] = cursor


def _line_of(step: Ask, answer: Answer) -> str:
    """Show a request with its answer.

    Such as `POST /products key one 429 rate_limited, Retry-After: 10`.
    """
    words = [step.method, step.path]
    if step.key is not None:
        words.append(f"key {step.key}")
    words.append(str(answer.status))
    if answer.status >= 400:
        words.append(answer.code)
    line = " ".join(words)
    if answer.retry_after is not None:
        line += f", Retry-After: {answer.retry_after}"
    return line
