"""The probes: for each decision the least that has to be asked to tell its readings apart, and what that costs.

A probe only asks a service over HTTP; every exchange is kept, as a recording would have it. What the answers mean is said
by the observation of the decision (`image_workflow_emulator.traffic.decisions`), the same one that judges a recording. A decision without
a probe can only be told by traffic that happens to show it.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from msgspec import Struct, structs

from image_workflow_emulator import __version__
from image_workflow_emulator.contract import Contract
from image_workflow_emulator.domain.lifecycles import TERMINAL
from image_workflow_emulator.kernel.clock import host_elapsed_ms, host_now
from image_workflow_emulator.testing.control_client import reason
from image_workflow_emulator.testing.transport import Answer, send
from image_workflow_emulator.traffic.exchanges import RecordedExchange, RecordingError, lower_names

_SECONDS: Final = 60.0
"""How long one request may take."""
_POLLS: Final = 200
"""The most looks at one work."""
_MAX_WAIT_SECONDS: Final = 30
_MANY: Final = 6
"""More photos than one Generation takes."""
_LARGE: Final = (6_000, 5_000)
_LEAST: Final = {"output_mode": "single_shots"}
_ORDER: Final[Mapping[str, Any]] = {
    **_LEAST,
    "background": {"type": "automatic"},
    "fashion_model": {"type": "none"},
    "image_count": 1,
    "aspect_ratio": "4:5",
    "resolution": "1k",
    "output_format": "jpeg",
}
_SHOOT: Final[Mapping[str, Any]] = {**_ORDER, "output_mode": "photoshoot", "image_count": 4}


class ProbedService:
    """The service under `base_url`, asked with one credential. `sleep` waits for some seconds."""

    def __init__(self, base_url: str, api_key: str, contract: Contract, sleep: Callable[[float], None]) -> None:
        self.exchanges: list[RecordedExchange] = []
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._contract = contract
        self._sleep = sleep
        self._run = f"{host_now():x}"

    def call(
        self, operation: str, body: Mapping[str, Any] | None = None, key: str | None = None, **parameters: str | int
    ) -> Answer:
        """Call an operation. `parameters` are those of its path, and of its query. Raises RecordingError."""
        contract = self._contract.operations[operation]
        path = contract.path.format_map(parameters)
        query = {name: value for name, value in parameters.items() if f"{{{name}}}" not in contract.path}
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "application/json"}
        if contract.takes_key:
            headers["Idempotency-Key"] = f"probe-{self._run}-{key or len(self.exchanges)}"
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        url = f"{self._base_url}{path}" + (f"?{urlencode(query)}" if query else "")
        return self.send(contract.method, url, headers, data)

    def finished(self, admitted: Answer) -> dict[str, Any]:
        """Look at admitted work until it has ended, as often as it asks for, and return how it was last seen."""
        shown = admitted.json
        kind = "operation" if shown.get("object") == "operation" else "generation"
        for _ in range(_POLLS):
            if not shown.get("id") or shown.get("status") in TERMINAL:
                break
            reply = self.call(f"get{kind.capitalize()}", **{f"{kind}_id": shown["id"]})
            shown = reply.json or shown
            hint = reply.headers.get("retry-after", "1")
            if shown.get("status") not in TERMINAL:
                self._sleep(min(int(hint) if hint.isdecimal() else 1, _MAX_WAIT_SECONDS))
        return shown

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Send one request, and keep the exchange. Raises RecordingError if the service cannot be reached."""
        sent = {"User-Agent": f"image-workflow-emulator/{__version__} drift", **headers}
        reply, exchange = exchanged(method, url, sent, body)
        self.exchanges.append(structs.replace(exchange, where=f"request {len(self.exchanges) + 1}"))
        return reply


def exchanged(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[Answer, RecordedExchange]:
    """Send a request, and return the answer and the exchange; redirects are not followed. Raises RecordingError."""
    at, began_ms = host_now(), host_elapsed_ms()
    try:
        reply = send(method, url, headers, body, _SECONDS)
    except (OSError, ValueError) as error:
        raise RecordingError(f"{urlsplit(url).netloc}: {reason(error)}") from None
    sent, took_ms = lower_names(headers.items()), host_elapsed_ms() - began_ms
    return reply, RecordedExchange("", at, took_ms, method, url, sent, body, reply.status, reply.headers, reply.body)


class Probe(Struct, frozen=True):
    """How to tell the readings of some decisions apart."""

    decisions: tuple[str, ...]
    summary: str
    run: Callable[[ProbedService], object]
    is_read: bool = False
    """Whether it only reads."""
    credits: int = 0
    """What it costs at the most."""


def probes_within(credits_to_spend: int | None) -> Iterable[Probe]:
    """Iterate over the probes that may be run: the free ones first; those that only read where no Credits are given."""
    left = credits_to_spend
    for probe in sorted(PROBES, key=lambda probe: (not probe.is_read, probe.credits)):
        if left is None:
            if probe.is_read:
                yield probe
        elif probe.credits <= left:
            left -= probe.credits
            yield probe


# What the probes ask --------------------------------------------------------------------------------------------------


def _lists(service: ProbedService) -> None:
    service.call("getTeam")
    service.call("listAssets", limit=101)
    service.call("listPoses", limit=100)


def _upload(service: ProbedService) -> None:
    asset = upload_photo(service, (64, 64))
    url = asset.json.get("url")
    if isinstance(url, str):
        service.send("GET", url, {})


def _texts(service: ProbedService) -> None:
    _create_product(service, "n" * 150, _photos(service, 1))


def _refused_twice(service: ProbedService) -> None:
    for _ in range(2):
        _create_product(service, "Probe", ["ast_absent"], key="refused-twice")


def _product(service: ProbedService) -> None:
    _create_product(service, "Probe", sorted(_photos(service, 2), reverse=True))
    service.call("listProducts")


def _create_product(service: ProbedService, name: str, photos: Sequence[str], key: str | None = None) -> None:
    service.call("createProduct", {"name": name, "asset_ids": photos, "primary_asset_id": photos[0]}, key=key)


def _style(service: ProbedService) -> None:
    body = {"name": "Probe", "asset_ids": _photos(service, 3)}
    admitted = service.call("createPhotographyStyle", body, key="style")
    service.call("createPhotographyStyle", {**body, "description": ""}, key="style")
    service.finished(admitted)


def _pose(service: ProbedService) -> None:
    (photo,) = _photos(service, 1)
    service.call("getTeam")
    admitted = service.call("createPose", {"name": "Probe", "asset_id": photo})
    service.call("getTeam")
    service.finished(admitted)
    service.call("getTeam")


def _ordering(order: Mapping[str, Any], photos: int = 1) -> Callable[[ProbedService], None]:
    """Return what orders pictures of some photos, reads the Team, waits for them, and looks at each."""

    def run(service: ProbedService) -> None:
        body = {**order, "asset_ids": _photos(service, photos)}
        admitted = service.call("createProductPhotographyGeneration", body)
        service.call("getTeam")
        work = service.finished(admitted)
        for output in work.get("outputs") or ():
            if output.get("asset"):
                service.call("getAsset", asset_id=output["asset"]["id"])

    return run


PROBES: Final = (
    Probe(
        ("D02", "D26", "D72", "D73"), "read the Team, and lists with a limit of 101 and of 100", _lists, is_read=True
    ),
    Probe(("D15", "D16", "D18", "D19", "D70"), "upload a photo and fetch it", _upload),
    Probe(("D57",), "upload a photo of 30 megapixels", lambda service: upload_photo(service, _LARGE)),
    Probe(("D04",), "create a Product with a name of 150 characters", _texts),
    Probe(("D10",), "create a Product of an Asset that does not exist, twice with one key", _refused_twice),
    Probe(("D22", "D74"), "create a Product of two photos, and list the Products", _product),
    Probe(("D14", "D27", "D42", "D71"), "create a style, and repeat it with an empty description", _style),
    Probe(("D33",), "order a photoshoot with an image_count of 2", _ordering({**_SHOOT, "image_count": 2}), credits=2),
    Probe(("D29",), "create a pose, and read the Team before, meanwhile and after", _pose, credits=1),
    Probe(("D33",), "order a picture with nothing but output_mode and a photo", _ordering(_LEAST), credits=1),
    Probe(("D35",), "order a picture of 4:5 at 1k", _ordering(_ORDER), credits=1),
    Probe(("D32",), "order a picture of six photos", _ordering(_ORDER, _MANY), credits=1),
    Probe(("D40", "D76"), "order a photoshoot, and look at it until it has finished", _ordering(_SHOOT), credits=2),
)
"""Every probe. D12, D31, D37 and D66 have none: nobody can make a service forget a key, fail or pause."""


# Photos ---------------------------------------------------------------------------------------------------------------


def _photos(service: ProbedService, number: int) -> list[str]:
    """Upload some photos and return their ids. Raises KeyError if the service refuses one."""
    return [str(upload_photo(service, (64, 64 + index)).json["id"]) for index in range(number)]


def upload_photo(service: ProbedService, size: tuple[int, int]) -> Answer:
    """Upload a photo of some width and height, and return the last answer."""
    data = _png(*size)
    opened = service.call("createUpload", {"content_type": "image/png", "size_bytes": len(data)})
    upload = opened.json.get("upload") or {}
    if not isinstance(upload.get("url"), str):
        return opened
    sent = service.send(str(upload.get("method", "POST")), upload["url"], upload.get("headers") or {}, data)
    body = {"upload_token": str(sent.json.get("upload_token"))}
    return service.call("completeUpload", body, upload_id=str(opened.json.get("id")))


@cache
def _png(width: int, height: int) -> bytes:
    """Return a plain picture as PNG."""
    from image_workflow_emulator.imaging.encoding import plain_png

    return plain_png(width, height)
