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
    newest = service.call("listAssets", limit=1)
    (asset,) = newest.json["data"]
    large = service.upload(2_500, 900)
    upscale = upscale_of(large.json["id"])
    admitted = service.call("createUpscaleGeneration", upscale)
    service.finished(admitted)
    _order_with_failures(service, asset["id"])
    _meet_a_pause(service, asset["id"])
    _use_a_key_again_the_next_day(service, asset["id"])
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
    return {
        "asset_id": asset,
        "target_resolution": target,
        "output_format": "png",
    }


def _order_with_failures(service: RecordedService, asset: str) -> None:
    order = photoshoot_of(asset)
    for failing_slots in ("1", "12", "123"):
        failures = dict.fromkeys(failing_slots, "content_rejected")
        rule = {
            "match": {"work": "product_photography"},
            "then": {"outputs": failures},
        }
        service.play(rule)
        admitted = service.call(PHOTOGRAPHY, order)
        service.finished(admitted)


def _meet_a_pause(service: RecordedService, asset: str) -> None:
    pause = {
        "at": "0s",
        "set": {"admission": "paused", "retry_after": 5},
    }
    opening = {
        "at": "10s",
        "set": {"admission": "open"},
    }
    scenario = {
        "scenario": "paused",
        "timeline": [pause, opening],
    }
    service.control("PUT", "/scenario", scenario)
    service.product("Paused", [asset])
    service.wait(10)
    service.control("PUT", "/scenario", {"scenario": "nothing"})


def _use_a_key_again_the_next_day(service: RecordedService, asset: str) -> None:
    service.product("Daily", [asset], key="daily")
    service.wait(DAY_MS / 1000 + 60)
    service.product("Daily", [asset], key="daily")


def _ask_for_too_many(service: RecordedService) -> None:
    service.call("listAssets", limit=101)


def _list_poses(service: RecordedService) -> None:
    service.call("listPoses", limit=100)


def _download(service: RecordedService) -> None:
    asset = service.upload().json
    service.send("GET", asset["url"], {})


def _upload_a_large_photo(service: RecordedService) -> None:
    service.upload(6_000, 5_000)


def _long_name(service: RecordedService) -> None:
    photos = service.photos(1)
    service.product("n" * 150, photos)


def _product(service: RecordedService) -> None:
    photos = service.photos(2)
    newest_first = sorted(photos, reverse=True)
    service.product("Probe", newest_first)
    service.call("listProducts")


def _style(service: RecordedService) -> None:
    body = {
        "name": "Probe",
        "asset_ids": service.photos(3),
    }
    rewritten = {**body, "description": ""}
    admitted = service.call("createPhotographyStyle", body, key="style")
    service.call("createPhotographyStyle", rewritten, key="style")
    service.finished(admitted)


def _pose(service: RecordedService) -> None:
    (photo,) = service.photos(1)
    body = {"name": "Probe", "asset_id": photo}
    service.call("getTeam")
    admitted = service.call("createPose", body)
    service.call("getTeam")
    service.finished(admitted)
    service.call("getTeam")


def _refused_twice(service: RecordedService) -> None:
    absent = ["ast_absent"]
    service.product("Probe", absent, key="refused-twice")
    service.wait(60)
    service.product("Probe", absent, key="refused-twice")


def _photoshoot_of_two(service: RecordedService) -> None:
    service.order({**SHOOT, "image_count": 2})


def _order_with_defaults(service: RecordedService) -> None:
    service.order({"output_mode": "single_shots"})


def _single_shot(service: RecordedService) -> None:
    service.order(ORDER)


def _single_shot_of_six_photos(service: RecordedService) -> None:
    service.order(ORDER, photos=6)


def _photoshoot(service: RecordedService) -> None:
    service.order(SHOOT)


STOPS: Sequence[Callable[[RecordedService], None]] = (
    _ask_for_too_many,
    _list_poses,
    _download,
    _upload_a_large_photo,
    _long_name,
    _refused_twice,
    _product,
    _style,
    _photoshoot_of_two,
    _pose,
    _order_with_defaults,
    _single_shot,
    _single_shot_of_six_photos,
    _photoshoot,
)
