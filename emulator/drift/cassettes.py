"""Recordings as VCR.py cassettes, in YAML or JSON. They hold no times: those of the service's answers stand in for them."""

import base64
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

import yaml

from emulator.traffic.exchanges import RecordedExchange, RecordingError, lower_names

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MAX_DEPTH: Final = 200


def load_yaml(content: bytes, name: str) -> Any:
    """Read YAML; timestamps and switches become what YAML takes them for. Raises RecordingError."""
    try:
        _check_events(content, name)
        return yaml.load(content, Loader=_Loader)  # noqa: S506 (a safe loader, and the faster one)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise RecordingError(f"{name}{place}: neither JSON nor YAML ({getattr(error, 'problem', error)})") from None
    except (RecursionError, ValueError) as error:
        raise RecordingError(f"{name}: cannot be read as YAML ({type(error).__name__})") from None


def _check_events(content: bytes, name: str) -> None:
    """Refuse what makes a small file large or deep when it is read. Raises RecordingError."""
    depth = 0
    for event in yaml.parse(content, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise RecordingError(f"{name}: YAML aliases are not read")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise RecordingError(f"{name}: nested more than {MAX_DEPTH} levels deep")


def read_entry(entry: Mapping[str, Any], where: str) -> RecordedExchange:
    """Read one interaction. Raises KeyError, TypeError or ValueError for what is none."""
    request, response = entry["request"], entry["response"]
    headers = _headers(response.get("headers"))
    status = response["status"]
    return RecordedExchange(
        where=where,
        at=_instant(headers),
        took_ms=None,
        method=str(request["method"]).upper(),
        url=str(request["uri"]),
        request_headers=_headers(request.get("headers")),
        request_body=_body(request.get("body")),
        status=int(status["code"] if isinstance(status, dict) else status),
        response_headers=headers,
        response_body=_body(response.get("body")),
    )


def _headers(headers: Any) -> dict[str, str]:
    """Return headers, whose values are lists in newer cassettes and texts in older ones."""
    pairs = []
    for name, values in (headers or {}).items():
        pairs += [(str(name), str(value)) for value in (values if isinstance(values, list) else [values])]
    return lower_names(pairs)


def _body(body: Any) -> bytes | None:
    """Read a body: a text, bytes, or either of them under `string` or `base64_string`."""
    if isinstance(body, dict):
        if "base64_string" in body:
            return base64.b64decode(str(body["base64_string"]))
        body = body.get("string")
    if body is None or isinstance(body, bytes):
        return body or None
    return str(body).encode()


def _instant(headers: Mapping[str, str]) -> int | None:
    """Read the time of an answer from its header Date, in whole seconds."""
    try:
        return int(parsedate_to_datetime(headers["date"]).timestamp()) * 1000
    except (KeyError, ValueError, TypeError):
        return None
