"""Scrubbing: what may be kept of a recording, before anything of it is written or shown.

What is not known to be harmless is replaced: headers and words are kept by a list of what is allowed. A placeholder is
made by a keyed hash, so equal values stay equal, and nobody can guess back; one for a text has the length of the text,
since lengths are evidence (D04). Pictures become a description. Ids of resources stay: they are opaque, and say nothing
without a key.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

import orjson
from msgspec import structs

from image_workflow_emulator.contract import BASE_PATH
from image_workflow_emulator.drift.har import as_har
from image_workflow_emulator.traffic.exchanges import RecordedExchange, json_of
from image_workflow_emulator.traffic.pictures import described

_REQUEST_HEADERS: Final = frozenset({"content-type", "content-length", "accept", "user-agent", "range", "expect"})
_RESPONSE_HEADERS: Final = frozenset(
    {"content-type", "content-length", "retry-after", "date", "deprecation", "sunset", "allow", "accept-ranges"}
    | {"content-range", "cache-control"}
)
_HASHED_HEADERS: Final = frozenset({"idempotency-key", "request-id", "etag", "if-none-match"})
"""Headers whose value is a secret or a name of somebody's, and whose equality is evidence."""
_SECRET_NAME: Final = re.compile(
    r"token|secret|passw|authoriz|api[-_]?key|cookie|signature|session|bearer|jwt|e-?mail|phone", re.IGNORECASE
)
_HASHED_MEMBERS: Final = {"next_cursor": "cursor", "request_id": "request-id"}
"""By member: the kind of its placeholder, which a header or a query has too."""
_WORD: Final = re.compile(r"[a-z0-9][a-z0-9_.:/+-]{0,39}|[A-Z]{1,10}", re.ASCII)
_WORD_NAMES: Final = frozenset(
    {"object", "status", "code", "type", "workflow", "scope", "source", "media_type", "format", "kind", "method"}
    | {"profile", "age_range", "gender", "output_mode", "aspect_ratio", "resolution", "target_resolution"}
    | {"output_format", "camera_distance", "content_type", "supported_camera_distances", "prefix"}
)
"""The members of bodies whose value is a word of the contract, or, where the service differs, a word like one."""
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,16}(?:Z|[+-]\d\d:?\d\d)?", re.ASCII)
_HEX_COLOUR: Final = re.compile(r"#?[0-9a-fA-F]{6}", re.ASCII)
_QUERY_NAMES: Final = frozenset({"limit", "source", "scope", "status", "type", "workflow", "target_id"})
_HOST_URL: Final = f"https://service.invalid{BASE_PATH}"
_SHORTEST_SCANNED: Final = 8
"""A shorter value may stand anywhere by chance."""


class SurvivorError(Exception):
    """A value that was to be replaced is still there: nothing may be kept."""


def scrubbed_har(exchanges: Iterable[RecordedExchange], key: bytes, base_url: str, *, keep_text: bool) -> bytes:
    """Return what may be kept of a recording, as HAR. `key` is secret.

    Raises SurvivorError if something that was to be replaced is still in it.
    """
    scrubber = Scrubber(key, base_url, keep_text=keep_text)
    har = as_har([scrubber.scrub(exchange) for exchange in exchanges])
    content = orjson.dumps(har, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    scrubber.check(content)
    return content


class Scrubber:
    """Replaces what may not be kept; one for a whole recording, since equality has to survive. `key` is secret."""

    def __init__(self, key: bytes, base_url: str, *, keep_text: bool = False) -> None:
        self._key = key
        self._base_url = base_url
        self._keeps_text = keep_text
        self._replaced: set[str] = set()
        self._kept: set[str] = set()

    def scrub(self, exchange: RecordedExchange) -> RecordedExchange:
        """Return an exchange without what may not be kept."""
        return structs.replace(
            exchange,
            url=self.url(exchange.url),
            request_headers=dict(self._headers(exchange.request_headers, _REQUEST_HEADERS)),
            request_body=self._body(exchange.request_body, exchange.request_headers),
            response_headers=dict(self._headers(exchange.response_headers, _RESPONSE_HEADERS)),
            response_body=self._body(exchange.response_body, exchange.response_headers),
        )

    def check(self, content: bytes) -> None:
        """Make sure that nothing which was replaced stands in what is to be written. Raises SurvivorError."""
        text = content.decode(errors="replace")
        for value in self._replaced - self._kept:
            if len(value) >= _SHORTEST_SCANNED and value in text:
                raise SurvivorError("a value that was to be replaced is still in the recording; nothing was written")

    # Values ---------------------------------------------------------------------------------------------------------

    def _digest(self, value: str) -> str:
        return hashlib.blake2b(value.encode(errors="replace"), key=self._key, digest_size=16).hexdigest()

    def _replace(self, kind: str, value: str) -> str:
        self._replaced.add(value)
        return f"{kind}-{self._digest(value)}"

    def _text(self, value: str) -> str:
        """Return a text of the same length, or the text itself if it is blank or texts are kept."""
        if self._keeps_text or not value.strip():
            return value
        self._replaced.add(value)
        return f"text-{self._digest(value)}".ljust(len(value), "x")[: len(value)]

    def url(self, url: str) -> str:
        """Return an address of the service without what its query may hold; any other address as a placeholder."""
        address, _, query = url.partition("?")
        if self._base_url and address.startswith(self._base_url + "/"):
            self._replaced.add(urlsplit(self._base_url).netloc)
            pairs = parse_qsl(query, keep_blank_values=True)
            shown = "&".join(f"{name}={quote(self._query_value(name, value))}" for name, value in pairs)
            path = _HOST_URL + address.removeprefix(self._base_url)
            return f"{path}?{shown}" if shown else path
        self._replaced.add(url)
        return f"https://links.invalid/{self._digest(url)}"

    def _query_value(self, name: str, value: str) -> str:
        is_harmless = name in _QUERY_NAMES and _IDENTIFIER.fullmatch(value.replace(".", ""))
        return self._keep(value) if is_harmless or not value else self._replace("cursor", value)

    def _keep(self, value: str) -> str:
        self._kept.add(value)
        return value

    def _headers(self, headers: Mapping[str, str], allowed: frozenset[str]) -> Iterator[tuple[str, str]]:
        for name, value in headers.items():
            if name in allowed:
                yield name, self._keep(value)
            elif name == "authorization":
                *scheme, credential = value.strip().split(" ", 1)
                yield name, " ".join((*scheme, self._replace("key", credential)))
            elif name in _HASHED_HEADERS:
                yield name, self._replace(name, value)
            elif name == "location":
                yield name, self.url(value) if "://" in value else self._relative(value)
            else:  # left out
                self._replaced.add(value)

    def _relative(self, target: str) -> str:
        return "/".join(self._keep(step) if _IDENTIFIER.fullmatch(step) else "" for step in target.split("/"))

    # Bodies ---------------------------------------------------------------------------------------------------------

    def _body(self, body: bytes | None, headers: Mapping[str, str]) -> bytes | None:
        if not body:
            return body
        try:
            return orjson.dumps(self._json("", json_of(body)))
        except ValueError:
            return described(body, headers.get("content-type", ""), self._digest(body.hex()))

    def _json(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._member(member): self._json(member, inner) for member, inner in value.items()}
        if isinstance(value, list):
            return [self._json(name, item) for item in value]
        return self._string(name, value) if isinstance(value, str) else self._scalar(name, value)

    def _member(self, name: str) -> str:
        """Return a name of a member, which may itself be anything."""
        return self._keep(name) if _IDENTIFIER.fullmatch(name) else self._text(name)

    def _scalar(self, name: str, value: Any) -> Any:
        return self._replace("secret", str(value)) if _SECRET_NAME.search(name) and value is not None else value

    def _string(self, name: str, value: str) -> str:
        if not value:
            return value
        if _SECRET_NAME.search(name):
            return self._replace("secret", value)
        if name in _HASHED_MEMBERS:
            return self._replace(_HASHED_MEMBERS[name], value)
        if "://" in value:
            return self.url(value)
        is_identifier = name == "id" or name.endswith(("_id", "_ids"))
        if is_identifier and _IDENTIFIER.fullmatch(value):
            return self._keep(value)
        is_word = name in _WORD_NAMES and _WORD.fullmatch(value)
        is_colour = name in ("color", "hex") and _HEX_COLOUR.fullmatch(value)
        return self._keep(value) if is_word or is_colour or _TIMESTAMP.fullmatch(value) else self._text(value)
