"""Plays the clients that examples of rules describe, against an emulator on a manual clock."""

import json
from typing import Any, Final

from tests.examiner.rule_examples import Ask, Example, Wait
from tests.support.emulator_client import Answer, Call, EmulatorUnderTest
from tests.support.pictures import picture
from tests.support.served import ROOT

LIBRARY: Final = sorted(file.stem for file in (ROOT / "scenarios").glob("*.yaml"))
"""The names of all scenarios that are shipped."""
SLOW: Final = ("silent-service", "slow-service")
"""Those under which a client waits in earnest: they belong to the long verification."""


def rules_found(service: EmulatorUnderTest, query: str = "?ended=true") -> list[str]:
    """The rule of each finding: of all that would be found if the run ended now, unless the query says otherwise."""
    return [finding["rule"] for finding in service.told("GET", f"/conduct{query}")["findings"]]


class ExampleClient:
    """Sends the steps of an example, and remembers what the next ones need."""

    def __init__(self, service: EmulatorUnderTest) -> None:
        self._service = service
        asset, *others = service.assets(6)
        numbered = {f"asset{number}": other for number, other in enumerate(others, start=2)}
        self._known: dict[str, str] = {"asset": asset, **numbered, "file": service.get(f"/assets/{asset}").json["url"]}

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
        body = None if content is not None or step.body is None else self._filled(step.body)
        headers = dict(step.headers)
        if content is not None:
            headers |= json.loads(self._known["upload_headers"])
        call = Call(step.method, self._filled(step.path), body, content, idempotency_key=step.key, headers=headers)
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
        if answer.status >= 400 or not answer.body or answer.headers["content-type"] != "application/json":
            return
        told = answer.json
        match told.get("object"):
            case "upload":
                self._known |= {"upload": told["id"], "upload_url": told["upload"]["url"]}
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
    key, code = step.key and f"key {step.key}", answer.status >= 400 and answer.json["code"]
    retry_after = answer.headers.get("retry-after")
    shown = filter(None, (step.method, step.path, key, str(answer.status), code))
    return " ".join(shown) + (f", Retry-After: {retry_after}" if retry_after else "")
