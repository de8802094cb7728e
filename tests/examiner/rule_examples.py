"""Examples of the rules of conduct: for each rule a client that breaks it, and one that keeps it.

`ExampleClient` sends the requests, on a manual clock.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from tests.support.emulator_client import Answer, Call, EmulatorUnderTest
from tests.support.pictures import picture
from tests.support.served import ROOT


class Ask(Struct, frozen=True):
    """A step of an example: a request. `{...}` in path and body stands for a value of an earlier answer.

    `asset`: a file that was uploaded before. `upload`, `upload_url`, `token`: of the last Upload Session. `work`: the
    path of the last admitted work. `file`: the address of the Asset's file. `cursor`: to the next page of the last
    list.
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


UPSCALE: Final = {
    "asset_id": "{asset}",
    "target_resolution": "2k",
    "output_format": "png",
}
"""The body of the simplest work, for examples."""
OPEN_UPLOAD: Final = Ask(
    "POST", "/uploads", {"content_type": "image/png", "size_bytes": "{size}"}, "one"
)
SEND_BYTES: Final = Ask("POST", "{upload_url}", b"{picture}", credential=False)
COMPLETE_UPLOAD: Final = Ask(
    "POST", "/uploads/{upload}/complete", {"upload_token": "{token}"}, "two"
)


SEE: Final[tuple["Ask | Wait", ...]] = (Wait(20), Ask("GET", "{work}"))
"""Wait for the admitted work, and read its end."""


def upscale(key: str) -> Ask:
    """Return the request that admits the simplest work."""
    return Ask("POST", "/generations/upscale", UPSCALE, key)


def _fault(then: Mapping[str, Any], nth: int | str = 1) -> Mapping[str, Any]:
    """Return the rule of a scenario for the requests that `upscale` sends."""
    return {
        "match": {"operation": "createUpscaleGeneration"},
        "when": {"nth": nth},
        "then": then,
    }


_LIMITED = _fault({"problem": "rate_limited", "retry_after": 10})
_PAUSED = _fault({"problem": "service_unavailable", "retry_after": 5})
_BROKEN = _fault({"problem": "internal_error"}, "1-4")
_LOST_BEFORE = _fault({"problem": "internal_error", "at": "before_commit"})
_LOST_AFTER = _fault({"problem": "internal_error", "at": "after_commit"})
_DEPRECATED = {
    "match": {"operation": "listPoses"},
    "then": {
        "deprecated": {
            "sunset": "2026-01-01T01:00:00.000Z",
            "link": "https://docs.example/migration",
        }
    },
}
_LOOK = Ask("GET", "{work}")
_MISSING = Ask("GET", "/assets/ast_none")
_SEND = upscale("one")


def _other(key: str) -> Ask:
    return Ask(
        "POST", "/generations/upscale", {**UPSCALE, "output_format": "jpeg"}, key
    )


_FETCH = Ask("GET", "/assets/{picture}")
_LIST = Ask("GET", "/generations")
_FORBIDDEN = {
    "match": {"operation": "createUpload"},
    "then": {"problem": "permission_denied"},
}
_NO_PRODUCTS = {
    "match": {"operation": "listProducts"},
    "when": {"nth": "1-30"},
    "then": {"problem": "internal_error"},
}


def _opened(*sizes: int) -> tuple[Ask, ...]:
    return tuple(
        Ask(
            "POST",
            "/uploads",
            {"content_type": "image/png", "size_bytes": one},
            f"{one}",
        )
        for one in sizes
    )


def _backing_off(times: int) -> tuple["Ask | Wait", ...]:
    return tuple(
        step
        for power in range(times)
        for step in (Ask("GET", "/products"), Wait(min(2**power, 120)))
    )


def _pictured(*assets: str) -> Ask:
    return Ask(
        "POST",
        "/generations/product-photography",
        {"output_mode": "single_shots", "asset_ids": assets},
        "one",
    )


EXAMPLES: Final[Mapping[str, tuple[Example, Example]]] = {
    "retry-before-retry-after": (
        Example((_SEND, Wait(5), _SEND, *SEE), (_LIMITED,)),
        Example((_SEND, Wait(10), _SEND, *SEE), (_LIMITED,)),
    ),
    "poll-before-retry-after": (
        Example((_SEND, Wait(2), _LOOK, Wait(1), _LOOK, Wait(9), _LOOK)),
        Example((_SEND, Wait(2), _LOOK, Wait(5), _LOOK)),
    ),
    "poll-after-terminal": (
        Example((_SEND, Wait(10), _LOOK, _LOOK, _LOOK, _LOOK)),
        Example((_SEND, Wait(10), _LOOK, _LOOK, _LOOK)),
    ),
    "no-backoff": (
        Example(
            (
                _SEND,
                Wait(1),
                _SEND,
                Wait(1),
                _SEND,
                Wait(1),
                _SEND,
                Wait(1),
                _SEND,
                *SEE,
            ),
            (_BROKEN,),
        ),
        Example(
            (
                _SEND,
                Wait(1),
                _SEND,
                Wait(2),
                _SEND,
                Wait(4),
                _SEND,
                Wait(8),
                _SEND,
                *SEE,
            ),
            (_BROKEN,),
        ),
    ),
    "retry-of-the-hopeless": (
        Example((_MISSING, _MISSING, _MISSING)),
        Example((_MISSING, _MISSING, Ask("GET", "/assets"))),
    ),
    "gave-up-on-retryable": (
        Example((_SEND,), (_PAUSED,)),
        Example((_SEND, Wait(5), _SEND, *SEE), (_PAUSED,)),
    ),
    "key-not-sent-again": (
        Example((_SEND,), (_LOST_AFTER,)),
        Example((_SEND, _SEND, *SEE), (_LOST_AFTER,)),
    ),
    "write-retried-with-new-key": (
        Example((_SEND, upscale("two"), *SEE), (_LOST_BEFORE,)),
        Example((_SEND, _SEND, *SEE), (_LOST_BEFORE,)),
    ),
    "double-spend": (
        Example((_SEND, upscale("two"), *SEE), (_LOST_AFTER,)),
        Example((_SEND, _SEND, *SEE), (_LOST_AFTER,)),
    ),
    "key-reused": (
        Example((_SEND, _other("one"), *SEE)),
        Example((_SEND, *SEE, _other("two"), *SEE)),
    ),
    "credential-sent-to-bytes": (
        Example((Ask("GET", "{file}"),)),
        Example((Ask("GET", "{file}", credential=False),)),
    ),
    "credential-in-request": (
        Example((Ask("GET", "/products?limit=5&api_key=iwe_demo_full"),)),
        Example((Ask("GET", "/products?limit=5"),)),
    ),
    "key-after-retention": (
        Example((_SEND, *SEE, Wait(25 * 3600), _SEND, *SEE)),
        Example((_SEND, *SEE, Wait(23 * 3600), _SEND)),
    ),
    "goes-on-after-refusal": (
        Example(_opened(101, 102, 103), (_FORBIDDEN,)),
        Example(_opened(101, 102), (_FORBIDDEN,)),
    ),
    "retries-without-end": (
        Example(_backing_off(23), (_NO_PRODUCTS,)),
        Example(_backing_off(8), (_NO_PRODUCTS,)),
    ),
    "list-polled": (
        Example((_SEND, *(Wait(1), _LIST) * 4, Wait(20), _LIST)),
        Example((_SEND, *(Wait(1), _LIST) * 3, Wait(20), _LIST)),
    ),
    "upload-after-window": (
        Example((OPEN_UPLOAD, Wait(1000), SEND_BYTES)),
        Example((OPEN_UPLOAD, Wait(800), SEND_BYTES, COMPLETE_UPLOAD)),
    ),
    "abandoned-upload": (
        Example((OPEN_UPLOAD, SEND_BYTES)),
        Example((OPEN_UPLOAD, SEND_BYTES, COMPLETE_UPLOAD)),
    ),
    "abandoned-work": (
        Example((_SEND, Wait(1000))),
        Example((_SEND, Wait(1000), _LOOK)),
    ),
    "cursor-with-other-filters": (
        Example(
            (
                Ask("GET", "/poses?limit=1&scope=all"),
                Ask("GET", "/poses?limit=1&scope=global&after={cursor}"),
            )
        ),
        Example(
            (
                Ask("GET", "/poses?limit=1&scope=all"),
                Ask("GET", "/poses?limit=2&scope=all&after={cursor}"),
            )
        ),
    ),
    "broken-id": (
        Example((Ask("GET", "/assets/undefined"),)),
        Example((Ask("GET", "/assets/{asset}"),)),
    ),
}
"""For each rule a client that breaks it, and one that keeps it."""


LIBRARY: Final = sorted(file.stem for file in (ROOT / "scenarios").glob("*.yaml"))
"""The names of all scenarios that are shipped."""
SLOW: Final = ("silent-service", "slow-service")
"""Scenarios with waits in real time: they belong to `make verify`."""


def rules_found(service: EmulatorUnderTest, query: str = "?ended=true") -> list[str]:
    """The rule of each finding: of all that would be found if the run ended now, unless the query says otherwise."""
    return [
        finding["rule"]
        for finding in service.told("GET", f"/conduct{query}")["findings"]
    ]


class ExampleClient:
    """Sends the steps of an example, and remembers what the next ones need."""

    def __init__(self, service: EmulatorUnderTest) -> None:
        self._service = service
        asset, *others = service.assets(6)
        numbered = {
            f"asset{number}": other for number, other in enumerate(others, start=2)
        }
        self._known: dict[str, str] = {
            "asset": asset,
            **numbered,
            "file": service.get(f"/assets/{asset}").json["url"],
        }

    def play(self, example: Example) -> str:
        """Do all that the example says; return it as lines: each request with its answer, and the waits."""
        if example.rules:
            self._service.use({"scenario": "example", "rules": list(example.rules)})
        lines = []
        for step in example.steps:
            if isinstance(step, Wait):
                self._service.advance(step.seconds)
                lines.append(f"{step.seconds} s later")
            else:
                answer = self._send(step)
                self._remember(answer)
                lines.append(_line(step, answer))
        return "\n".join(lines)

    def _send(self, step: Ask) -> Answer:
        content = picture() if isinstance(step.body, bytes) else None
        body = (
            None
            if content is not None or step.body is None
            else self._filled(step.body)
        )
        headers = dict(step.headers)
        if content is not None:
            headers |= json.loads(self._known["upload_headers"])
        call = Call(
            step.method,
            self._filled(step.path),
            body,
            content,
            idempotency_key=step.key,
            headers=headers,
        )
        call.key = call.key if step.credential else None
        return self._service.send(call)

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            if value == "{size}":
                return len(picture())
            for name, known in self._known.items():
                value = value.replace(f"{{{name}}}", known)
            return value
        if isinstance(value, int):
            return value
        if isinstance(value, tuple):
            return [self._filled(one) for one in value]
        return {key: self._filled(one) for key, one in value.items()}

    def _remember(self, answer: Answer) -> None:
        if (
            answer.status >= 400
            or not answer.body
            or answer.headers["content-type"] != "application/json"
        ):
            return
        told = answer.json
        match told.get("object"):
            case "upload":
                self._known |= {
                    "upload": told["id"],
                    "upload_url": told["upload"]["url"],
                }
                self._known["upload_headers"] = json.dumps(told["upload"]["headers"])
            case "generation" | "operation":
                self._known["work"] = f"/{told['object']}s/{told['id']}"
                for output in told.get("outputs", ()):
                    if output["asset"]:
                        self._known["picture"] = output["asset"]["id"]
        if "upload_token" in told:
            self._known["token"] = told["upload_token"]
        if "page" in told:
            self._known["cursor"] = told["page"]["next_cursor"]


def _line(step: Ask, answer: Answer) -> str:
    """Show a request with its answer: `POST /products key one 429 rate_limited, Retry-After: 10`."""
    key, code = (
        step.key and f"key {step.key}",
        answer.status >= 400 and answer.json["code"],
    )
    retry_after = answer.headers.get("retry-after")
    shown = filter(None, (step.method, step.path, key, str(answer.status), code))
    return " ".join(shown) + (f", Retry-After: {retry_after}" if retry_after else "")
