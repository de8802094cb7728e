"""Clients that are sound, each with habits of its own, which are changes to the source of the example client."""

from typing import Final

from tests.examiner.example_client import ONCE, POLL, SEND

LINKS: Final = "self._links = httpx.Client(timeout=timeout)"
CLOSING: Final = "self._links.close()"
PATIENCE: Final = "patience: float = 1200.0"
HEDGED: Final = """\
            from concurrent.futures import ThreadPoolExecutor

            clients = (self._api, self._second) if headers else (self._api,)
            with ThreadPoolExecutor(2) as pool:
                sent = [pool.submit(one.request, method, path, json=body, params=query, headers=headers) for one in clients]
            answers = [one.result() for one in sent if one.exception() is None]
            if not answers:
                raise httpx.ReadError("neither was answered")
            return min(answers, key=lambda answer: answer.status_code)
"""

HABITS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "waits as it is told": (),
    "looks at its work every eleven minutes": ((POLL, "pause = 660.0"), (PATIENCE, "patience: float = 20_000.0")),
    "sends every write a second time, with the same key, and takes the better answer": (
        (LINKS, f"{LINKS}\n        self._second = httpx.Client(base_url=base_url, headers=headers, timeout=timeout)"),
        (CLOSING, f"{CLOSING}\n        self._second.close()"),
        (SEND, HEDGED),
    ),
    "tries twice, looks for a minute, and then tells its user": (
        (ONCE[0], "attempts: int = 2"),
        (PATIENCE, "patience: float = 61.0"),
    ),
}
"""By what it does: the changes."""
