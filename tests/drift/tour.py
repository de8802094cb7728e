"""A tour of the service that tells all of its readings apart."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from image_workflow_emulator.drift.exchanges import RecordedExchange
from image_workflow_emulator.kernel.timestamps import DAY_MS
from tests.drift.recorded_service import ORDER, PHOTOGRAPHY, SHOOT, RecordedService


def tour(readings: str = "plain", *, evolution: bool = False) -> list[RecordedExchange]:
    """Record every stop, failures, a pause, a key of the day before, and no Credits."""
    service = RecordedService(readings, evolution=evolution)
    service.call("getTeam")
    service.set_credits(500)
    for stop in STOPS:
        stop(service)
        service.wait(60)
    asset = service.call("listAssets", limit=1).json["data"][0]["id"]
    large = service.upload(2_500, 900).json["id"]
    upscale = upscale_of(large)
    service.finished(service.call("createUpscaleGeneration", upscale))
    _order_with_failures(service, asset)
    _meet_a_pause(service, asset)
    _use_a_key_again_the_next_day(service, asset)
    service.set_credits(0)
    for _ in range(2):
        service.call("createUpscaleGeneration", upscale, key="poor")
    return service.exchanges


def photoshoot_of(asset: str) -> dict[str, Any]:
    """The body of an order of four pictures, with nothing left to defaults."""
    return {
        **SHOOT,
        "asset_ids": [asset],
        "aspect_ratio": "1:1",
        "output_format": "png",
    }


def upscale_of(asset: str, target: str = "4k") -> Mapping[str, Any]:
    """The body of an order of one upscaled picture."""
    return {"asset_id": asset, "target_resolution": target, "output_format": "png"}


def _order_with_failures(service: RecordedService, asset: str) -> None:
    for failing in ("1", "12", "123"):
        then = {"outputs": dict.fromkeys(failing, "content_rejected")}
        service.play({"match": {"work": "product_photography"}, "then": then})
        service.finished(service.call(PHOTOGRAPHY, photoshoot_of(asset)))


def _meet_a_pause(service: RecordedService, asset: str) -> None:
    pause = {"at": "0s", "set": {"admission": "paused", "retry_after": 5}}
    opening = {"at": "10s", "set": {"admission": "open"}}
    scenario = {"scenario": "paused", "timeline": [pause, opening]}
    service.control("PUT", "/scenario", scenario)
    service.product("Paused", [asset])
    service.wait(10)
    service.control("PUT", "/scenario", {"scenario": "nothing"})


def _use_a_key_again_the_next_day(service: RecordedService, asset: str) -> None:
    service.product("Daily", [asset], key="daily")
    service.wait(DAY_MS / 1000 + 60)
    service.product("Daily", [asset], key="daily")


def _product(service: RecordedService) -> None:
    service.product("Probe", sorted(service.photos(2), reverse=True))
    service.call("listProducts")


def _style(service: RecordedService) -> None:
    body = {"name": "Probe", "asset_ids": service.photos(3)}
    admitted = service.call("createPhotographyStyle", body, key="style")
    rewritten = {**body, "description": ""}
    service.call("createPhotographyStyle", rewritten, key="style")
    service.finished(admitted)


def _pose(service: RecordedService) -> None:
    (photo,) = service.photos(1)
    service.call("getTeam")
    admitted = service.call("createPose", {"name": "Probe", "asset_id": photo})
    service.call("getTeam")
    service.finished(admitted)
    service.call("getTeam")


def _refused_twice(service: RecordedService) -> None:
    service.product("Probe", ["ast_absent"], key="refused-twice")
    service.wait(60)
    service.product("Probe", ["ast_absent"], key="refused-twice")


STOPS: Sequence[Callable[[RecordedService], object]] = (
    lambda service: service.call("listAssets", limit=101),
    lambda service: service.call("listPoses", limit=100),
    lambda service: service.send("GET", service.upload().json["url"], {}),
    lambda service: service.upload(6_000, 5_000),
    lambda service: service.product("n" * 150, service.photos(1)),
    _refused_twice,
    _product,
    _style,
    lambda service: service.order({**SHOOT, "image_count": 2}),
    _pose,
    lambda service: service.order({"output_mode": "single_shots"}),
    lambda service: service.order(ORDER),
    lambda service: service.order(ORDER, photos=6),
    lambda service: service.order(SHOOT),
)
