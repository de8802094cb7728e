"""The example client, with other habits where words of its source are changed."""

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, Final

from image_workflow_emulator.testing import Sandbox
from tests.support.served import ROOT

SOURCE: Final = (ROOT / "examples/python/image_workflow_client.py").read_text(
    encoding="utf-8"
)
PHOTO: Final = (ROOT / "examples/python/photo.png").read_bytes()
UPSCALE: Final = "/generations/upscale"
PHOTOGRAPHY: Final = "/generations/product-photography"


def load(*changes: tuple[str, str]) -> ModuleType:
    """Return the module of the client, with some words of its source changed.

    Each of them is there once.
    """
    source = SOURCE
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    module = ModuleType("mutated_client")
    sys.modules[module.__name__] = module  # where dataclasses look their module up
    exec(compile(source, "mutated_client.py", "exec"), module.__dict__)
    module.ImageWorkflow.gives_up = (
        module.Refused,
        module.Unanswered,
        module.WorkFailed,
        module.Unfinished,
    )
    return module


def play(
    module: ModuleType,
    sandbox: Sandbox,
    act: Callable[[Any], None],
    sleep: Callable[[float], object],
) -> None:
    """Let a client act; it may end by an exception of its own, as one that gives up."""
    module.__dict__["time"] = ModuleType("time")
    module.time.sleep = sleep
    client = module.ImageWorkflow(sandbox.base_url, sandbox.api_key, timeout=2.0)
    try:
        attempt(client, lambda: act(client))
    finally:
        client.close()


def attempt(client: Any, act: Callable[[], Any]) -> bool:
    """Let a client do something, or give up; return whether it may go on.

    It may not if its credential was refused.
    """
    try:
        act()
    except client.gives_up as error:
        return getattr(error, "status", None) not in (401, 402, 403)
    return True


def change_pose(
    client: Any,
    first: str,
    second: str,
) -> bool:
    """Have a pose made, and change it while it is being made anew.

    Return whether there is one.
    """
    creation = client.request("POST", "/poses", {"name": "Standing", "asset_id": first})
    made = client.wait_for(f"/operations/{creation['id']}")
    if made["status"] == "failed":
        return False
    pose = made["result"]["id"]
    changed = client.request("PATCH", f"/poses/{pose}", {"asset_id": second})
    client.request("PATCH", f"/poses/{pose}", {"name": "Walking"})
    client.wait_for(f"/operations/{changed['id']}")
    return True


def order(
    client: Any,
    path: str,
    body: dict[str, Any],
) -> None:
    """Order a Generation, and wait for it."""
    client.wait_for(f"/generations/{client.request('POST', path, body)['id']}")


def errands(client: Any) -> None:
    """Do a little of everything.

    What is refused for good is left, and the next thing begun.
    """
    attempt(client, lambda: client.request("GET", "/team"))
    assets: list[str] = []
    attempt(
        client,
        lambda: assets.extend(
            client.upload(PHOTO, "image/png")["id"] for _ in range(3)
        ),
    )
    if not assets:
        return
    shoot, shot = (
        {"output_mode": mode, "asset_ids": assets[:1]}
        for mode in ("photoshoot", "single_shots")
    )
    larger = {"asset_id": assets[0], "target_resolution": "2k", "output_format": "png"}
    for path, body in (
        (PHOTOGRAPHY, shoot),
        (PHOTOGRAPHY, shot),
        (UPSCALE, larger),
    ) * 2:
        if not attempt(client, partial(order, client, path, body)):
            return
    attempt(client, lambda: client.create_product("Shirt", assets))
    attempt(client, lambda: change_pose(client, assets[0], assets[-1]))
    for path in ("/assets", "/generations", "/poses"):
        attempt(client, partial(client.list_all, path, limit=2))
    attempt(client, lambda: client.request("GET", f"/assets/{assets[0]}"))


KEY: Final = (
    'headers = {"Idempotency-Key": str(uuid.uuid4())} '
    'if method in ("POST", "PATCH") else {}'
)
SEND: Final = """\
            return self._api.request(
                method,
                path,
                json=body,
                params=query,
                headers=headers,
            )
"""
POLL: Final = "pause = _retry_after(answer.headers, otherwise=2.0)"
NEW_KEYS: Final = (SEND, f"            {KEY}\n{SEND}")
ONCE: Final = ("attempts: int = 8", "attempts: int = 1")
