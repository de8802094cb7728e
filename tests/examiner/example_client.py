"""The example client, and mutants of it: each has one habit changed in its source, as a hurried programmer would have it."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, Final

from emulator.testing import Sandbox
from tests.support.served import ROOT

SOURCE: Final = (ROOT / "examples/python/image_workflow_client.py").read_text(encoding="utf-8")
PHOTO: Final = (ROOT / "examples/python/photo.png").read_bytes()
UPSCALE, PHOTOGRAPHY = "/generations/upscale", "/generations/product-photography"


def load(*changes: tuple[str, str]) -> ModuleType:
    """Return the module of the client, with some words of its source changed, each of which is there once."""
    source = SOURCE
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    module = ModuleType("mutated_client")
    sys.modules[module.__name__] = module  # where dataclasses look their module up
    exec(compile(source, "mutated_client.py", "exec"), module.__dict__)
    module.ImageWorkflow.gives_up = (module.Refused, module.Unanswered, module.WorkFailed, module.Unfinished)
    return module


def play(module: ModuleType, sandbox: Sandbox, act: Callable[[Any], None], sleep: Callable[[float], object]) -> None:
    """Let a client act; it may end by an exception of its own, as any client that gives up does."""
    module.__dict__["time"] = ModuleType("time")
    module.time.sleep = sleep
    client = module.ImageWorkflow(sandbox.base_url, sandbox.api_key, timeout=2.0)
    try:
        attempt(client, lambda: act(client))
    finally:
        client.close()


def attempt(client: Any, act: Callable[[], Any]) -> None:
    """Let a client do something, or give up."""
    with suppress(*client.gives_up):
        act()


# What it does -------------------------------------------------------------------------------------------------------------


def tour(client: Any) -> None:
    """Do all that the client can do; what comes after the pose, only if there is one."""
    assets = [client.upload(PHOTO, "image/png")["id"] for _ in range(2)]
    product = client.create_product("Shirt", assets)["id"]
    for picture in client.photoshoot([product]):
        client.download(picture)
    if not change_pose(client, *assets):
        return
    client.list_all("/poses", scope="global", limit=2)
    client.photoshoot([product], output_format="webp")


def change_pose(client: Any, first: str, second: str) -> bool:
    """Have a pose made, and change it while it is being made anew; tell whether there is one."""
    creation = client.request("POST", "/poses", {"name": "Standing", "asset_id": first})
    made = client.wait_for(f"/operations/{creation['id']}")
    if made["status"] == "failed":
        return False
    pose = made["result"]["id"]
    changed = client.request("PATCH", f"/poses/{pose}", {"asset_id": second})
    client.request("PATCH", f"/poses/{pose}", {"name": "Walking"})
    client.wait_for(f"/operations/{changed['id']}")
    return True


def upscale(client: Any, formats: tuple[str, ...] = ("png",)) -> None:
    """Order one picture, and wait for it."""
    asset = client.upload(PHOTO, "image/png")["id"]
    for image_format in formats:
        order(client, UPSCALE, enlarging(asset, image_format))


def enlarging(asset: str, image_format: str = "png") -> dict[str, Any]:
    """Return what an upscale asks for."""
    return {"asset_id": asset, "target_resolution": "2k", "output_format": image_format}


def order(client: Any, path: str, body: dict[str, Any]) -> None:
    """Order a Generation, and wait for it."""
    client.wait_for(f"/generations/{client.request('POST', path, body)['id']}")


def both_formats(client: Any) -> None:
    """Order the same picture twice, in two formats."""
    upscale(client, ("png", "jpeg"))


def change(client: Any) -> None:
    """Change an ingredient that is being made anew."""
    change_pose(client, *(client.upload(PHOTO, "image/png")["id"] for _ in range(2)))


def errands(client: Any) -> None:
    """Do a little of everything; what is refused for good is left, and the next thing begun."""
    attempt(client, lambda: client.request("GET", "/team"))
    assets: list[str] = []
    attempt(client, lambda: assets.extend(client.upload(PHOTO, "image/png")["id"] for _ in range(3)))
    if not assets:
        return
    shoot, shot = ({"output_mode": mode, "asset_ids": assets[:1]} for mode in ("photoshoot", "single_shots"))
    for path, body in ((PHOTOGRAPHY, shoot), (PHOTOGRAPHY, shot), (UPSCALE, enlarging(assets[0]))) * 2:
        attempt(client, partial(order, client, path, body))
    attempt(client, lambda: client.create_product("Shirt", assets))
    attempt(client, lambda: change_pose(client, assets[0], assets[-1]))
    for path in ("/assets", "/generations", "/poses"):
        attempt(client, partial(client.list_all, path, limit=2))
    attempt(client, lambda: client.request("GET", f"/assets/{assets[0]}"))


# What is wrong with it ----------------------------------------------------------------------------------------------------


def strikes(then: dict[str, Any], nth: str = "1", operation: str = "createUpscaleGeneration") -> dict[str, Any]:
    """Return a scenario that strikes calls of one operation."""
    rule = {"match": {"operation": operation}, "when": {"nth": nth}, "then": then}
    return {"scenario": "strikes", "rules": [rule]}


@dataclass(frozen=True)
class Mutant:
    """A change to the source, what the client then does under which scenario, and the rule that it is found with."""

    name: str
    rule: str
    change: tuple[str, str]
    scenario: str | dict[str, Any] | None = None
    act: Callable[[Any], None] = upscale


KEY: Final = 'headers = {"Idempotency-Key": str(uuid.uuid4())} if method in ("POST", "PATCH") else {}'
SEND: Final = "            return self._api.request(method, path, json=body, params=query, headers=headers)\n"
PAUSE: Final = "                raise failure\n            time.sleep(pause)\n"
POLL: Final = "pause = _retry_after(answer.headers, otherwise=2.0)"
POLL_PAUSE: Final = 'after {self._patience:g} s")\n            time.sleep(pause)\n'
UPLOAD: Final = "            try:\n                token"
IN_THE_WAY: Final = "                self.wait_for(f\"/operations/{refused.problem['active_operation_id']}\")\n"
TO_THE_END: Final = "        done = self.wait_for(f\"/generations/{generation['id']}\")\n"

LOST: Final = strikes({"network": "reset", "at": "after_commit"})
UNAVAILABLE: Final = strikes({"problem": "service_unavailable", "retry_after": 8})
LIMITED: Final = strikes({"problem": "rate_limited", "retry_after": 8})


def _paused(place: str, pause: str) -> tuple[str, str]:
    """Change how long it pauses at a place; a pause of nothing is left out."""
    return place, place.replace("time.sleep(pause)", f"time.sleep({pause})" if pause else "pass")


WITHOUT_KEY: Final = (
    SEND,
    f"            try:\n    {SEND.replace('=headers)', '=dict(headers))')}            finally:\n                headers.clear()\n",
)
NEW_KEYS: Final = (SEND, f"            {KEY}\n{SEND}")
ONE_KEY: Final = (KEY, KEY.replace("str(uuid.uuid4())", '"mine"'))
ONCE: Final = ("attempts: int = 8", "attempts: int = 1")
WHATEVER: Final = ("= failure.code in REPEATABLE or failure.status >= 500", "= True")
EVERYWHERE: Final = ("self._links = httpx.Client(timeout=timeout)", "self._links = self._api")
SUCCESS_ALONE: Final = ('in ("completed", "failed")', '== "completed"')
ONE_TOO_MANY: Final = (UPLOAD, f'            self.request("POST", "/uploads", body)\n{UPLOAD}')

MUTANTS: Final = (
    Mutant("repeats without the key", "key-not-sent-again", WITHOUT_KEY, LOST),
    Mutant("makes a key for each attempt", "double-spend", NEW_KEYS, LOST),
    Mutant("makes a key for each attempt, and is lucky", "write-retried-with-new-key", NEW_KEYS, strikes({"network": "reset"})),
    Mutant("has one key for all", "key-reused", ONE_KEY, act=both_formats),
    Mutant("asks once", "gave-up-on-retryable", ONCE, UNAVAILABLE),
    Mutant("asks once", "key-not-sent-again", ONCE, LOST),
    Mutant("does not wait after a 429", "retry-before-retry-after", _paused(PAUSE, ""), LIMITED),
    Mutant("does not wait after a 503", "retry-before-retry-after", _paused(PAUSE, ""), UNAVAILABLE),
    Mutant("waits half as long as it is told", "retry-before-retry-after", _paused(PAUSE, "pause / 2"), UNAVAILABLE),
    Mutant("waits its own time", "retry-before-retry-after", _paused(PAUSE, "1"), UNAVAILABLE),
    Mutant("has pauses that do not grow", "no-backoff", _paused(PAUSE, "1"), strikes({"problem": "internal_error"}, "1-6")),
    Mutant("has no pauses", "no-backoff", _paused(PAUSE, ""), strikes({"network": "reset"}, "1-7")),
    Mutant("repeats whatever fails", "retry-of-the-hopeless", WHATEVER, "credits-run-dry", tour),
    Mutant("repeats whatever fails", "retry-of-the-hopeless", WHATEVER, "credential-revoked-mid-run", tour),
    Mutant("polls without a pause", "poll-before-retry-after", _paused(POLL_PAUSE, "")),
    Mutant("polls twice as often as it is told", "poll-before-retry-after", _paused(POLL_PAUSE, "pause / 2")),
    Mutant("polls without an end", "poll-after-terminal", ('in ("completed", "failed")', "in ()")),
    Mutant("does not know that work fails", "poll-after-terminal", SUCCESS_ALONE, "all-outputs-fail"),
    Mutant("does not wait for the Operation in the way", "no-backoff", (IN_THE_WAY, ""), "resource-operation-in-progress", change),
    Mutant("sends the credential everywhere", "credential-sent-to-bytes", EVERYWHERE, act=tour),
    Mutant("changes the filters of a cursor", "cursor-with-other-filters", ("query=filters | cursor", "query=cursor or filters"), act=tour),
    Mutant("opens a session too many", "abandoned-upload", ONE_TOO_MANY),
    Mutant("dawdles before it sends the bytes", "upload-after-window", (UPLOAD, f"            time.sleep(1000)\n{UPLOAD}")),
    Mutant("does not look how work ends", "abandoned-work", (TO_THE_END, "        return []\n"), act=tour),
)  # fmt: skip
