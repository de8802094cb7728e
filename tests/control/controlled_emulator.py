"""An emulator under test together with its control plane: every problem that this answers is checked for its form."""

from collections.abc import Mapping
from typing import Any, Final

from tests.support.emulator_client import FULL, HOST, Answer, Call, EmulatorUnderTest, Json

CONTROL: Final = f"http://{HOST}/_emulator"
PROBLEM_MEMBERS: Final = {"type", "title", "status", "detail", "code", "request_id"}


def control_call(
    method: str,
    path: str,
    json: Any = None,
    *,
    sandbox: str | None = None,
    content: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Call:
    """Return a request to the control plane, on a sandbox other than `default` if one is named."""
    prefix = CONTROL if sandbox is None else f"{CONTROL}/sandboxes/{sandbox}"
    return Call(method, prefix + path, json, content=content, headers=headers or {}, key=None, idempotency_key=None)


class ControlledEmulator(EmulatorUnderTest):
    """An emulator, asked over `/v1` by the inherited methods and over `/_emulator` by `ask`."""

    def ask(self, method: str, path: str, json: Any = None, **options: Any) -> Answer:
        """Send a request to the control plane; `options` are those of `control_call`."""
        return self.send(control_call(method, path, json, **options))

    def told(self, method: str, path: str, json: Any = None, **options: Any) -> Any:
        """Send a request to the control plane that must succeed, and return what it answers."""
        answer = self.ask(method, path, json, **options)
        assert answer.status in (200, 201), answer.body
        return answer.json

    def refusal(self, method: str, path: str, json: Any = None, **options: Any) -> tuple[int, str, str]:
        """Send a request to the control plane that must be refused, and return status, code and detail."""
        answer = self.ask(method, path, json, **options)
        assert answer.status >= 400, answer.body
        return answer.status, answer.code, str(answer.json["detail"])

    def team(self, name: str = "Demo", sandbox: str | None = None) -> Json:
        """Return a Team as the control plane shows it."""
        (found,) = [team for team in self.told("GET", "/teams", sandbox=sandbox)["data"] if team["name"] == name]
        return dict(found)

    def clock_now(self, sandbox: str | None = None) -> str:
        """Return the time as the control plane shows it."""
        return str(self.told("GET", "/clock", sandbox=sandbox)["now"])

    def admitted_upscale(self, key: str = FULL) -> Json:
        """Admit work that is finished 6 s later: 1 s in the queue, 5 s for its output."""
        answer = self.post(
            "/generations/upscale",
            {"asset_id": self.assets(1, key)[0], "target_resolution": "2k", "output_format": "png"},
            key,
        )
        assert answer.status == 202, answer.body
        return dict(answer.json)

    def _check(self, method: str, path: str, answer: Answer) -> None:
        if not path.startswith("/_emulator"):
            super()._check(method, path, answer)
            return
        assert answer.headers["request-id"]
        assert (answer.status == 405) == ("allow" in answer.headers)
        if answer.status >= 400 and method != "HEAD":
            assert answer.headers["content-type"] == "application/problem+json"
            assert set(answer.json) == PROBLEM_MEMBERS
            assert answer.json["status"] == answer.status
            assert answer.json["request_id"] == answer.headers["request-id"]
