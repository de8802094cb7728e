"""What the players of scenarios do: an emulator with its control plane, and the ways of a good client.

A good client sends a refused write again with the key of the first attempt where section 7 of the specification says so,
waits as long as it is told, and never longer in real time: the emulator's clock is moved instead.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.control.controlled_emulator import ControlledEmulator, control_call
from tests.support.emulator_client import FULL, INGREDIENT_PATHS, Answer, Call, Json
from tests.support.pictures import picture

UPLOAD: Final = {"content_type": "image/png", "size_bytes": len(picture())}
"""A body that opens an Upload Session for `picture()`."""
WORKFLOWS: Final = ("product-photography", "edit-images", "upscale")
LISTS: Final = ("/assets", "/products", *INGREDIENT_PATHS.values(), "/operations", "/generations")
PATIENCE: Final = 20
"""Attempts after which a client gives a write up."""


def generation_body(workflow: str, asset_id: str) -> Json:
    """Return a body that asks for one output, for 1 Credit."""
    bodies: dict[str, Json] = {
        "product-photography": {"output_mode": "single_shots", "asset_ids": [asset_id]},
        "edit-images": {
            "asset_ids": [asset_id],
            "instructions": "Put it on a table.",
            "aspect_ratio": "1:1",
            "resolution": "1k",
            "output_format": "png",
        },
        "upscale": {"asset_id": asset_id, "target_resolution": "2k", "output_format": "png"},
    }
    return bodies[workflow]


def generation_call(workflow: str, asset_id: str, idempotency_key: str, key: str = FULL) -> Call:
    """Return a request for one output, for 1 Credit."""
    body = generation_body(workflow, asset_id)
    return Call("POST", f"/generations/{workflow}", body, key=key, idempotency_key=idempotency_key)


def upscale_call(asset_id: str, idempotency_key: str, key: str = FULL) -> Call:
    """Return a request for the plainest work."""
    return generation_call("upscale", asset_id, idempotency_key, key)


def advance_call(seconds: float) -> Call:
    """Return a request that moves the clock, to be sent together with others."""
    return control_call("POST", "/clock/advance", {"seconds": seconds})


class Service(ControlledEmulator):
    """An emulator, and what players ask of it again and again."""

    def rules(self, path: str = "/scenario") -> dict[str, tuple[int, int]]:
        """Return how often each rule matched and fired."""
        return {rule["name"]: (rule["matched"], rule["fired"]) for rule in self.told("GET", path)["rules"]}

    def rules_that_never_fired(self) -> list[str]:
        """Return the names of the rules that did nothing."""
        return [name for name, (_, fired) in self.rules().items() if not fired]

    def use(self, scenario: Any, path: str = "/scenario") -> None:
        """Put a scenario, as an object or as the text of a file, in place of the running one."""
        if isinstance(scenario, str):
            self.told("PUT", path, content=scenario.encode())
        else:
            self.told("PUT", path, scenario)

    def rule(self, match: Json, then: Json, when: Json | None = None, **more: Any) -> None:
        """Put a scenario of one rule, called `the rule`, in place of the running one."""
        rule = {"name": "the rule", "match": match, "then": then} | ({"when": when} if when else {})
        self.use({"scenario": "one rule", "rules": [rule]} | more)

    def without_scenario(self) -> None:
        """Let nothing go wrong from now on."""
        assert self.ask("DELETE", "/scenario").status == 204

    def new_key(self, team: str = "Demo", profile: str = "full") -> str:
        """Have the owner of a Team create a credential, and return its key."""
        return str(self.told("POST", f"/teams/{team}/credentials", {"profile": profile})["key"])

    def insist(self, call: Call, statuses: tuple[int, ...] = (429, 503)) -> tuple[Answer, list[int]]:
        """Send a request with one key until it is let in, waiting as told; return the answer, and the waits in seconds."""
        waits: list[int] = []
        while (answer := self.send(call)).status in statuses:
            assert len(waits) < PATIENCE, answer.body
            waits.append(answer.retry_after or 0)
            self.advance(waits[-1])
        return answer, waits

    def asked_twice(self, call: Call, held_seconds: float) -> tuple[Answer, Answer]:
        """Send a request that is held, meanwhile the same once more, and let the time of the hold pass; return both answers."""
        first, second, moved = self.together(call, call, advance_call(held_seconds))
        assert moved.status == 200, moved.body
        return first, second

    def count(self, target: str, key: str = FULL) -> int:
        """Return how many items a list has."""
        return len(self.items(target, key))

    def library_of(self, key: str = FULL) -> Json:
        """Return all that a Team can see, for comparison: its lists, Credits and concurrency."""
        team = self.get("/team", key).json
        return {
            **{path: self.items(path, key) for path in LISTS},
            "credits": team["credits"],
            "api_concurrency": team["capabilities"]["api_concurrency"],
        }


MakeService = Callable[..., Service]
