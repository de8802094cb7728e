"""Prism between a client and the emulator: somebody else's reading of the contract, held against every operation.

Prism validates both the request and the answer, and tells in a header of the answer what it found.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.generated import CONTRACT
from tests.support.emulator_client import Answer
from tests.support.every_operation import take_tour
from tests.support.served import serving, started
from tests.support.served_client import ServedClient

pytestmark = pytest.mark.verify

VIOLATIONS = "sl-violations"


class Proxied(ServedClient):
    """The client of the tests, with requests to operations sent by way of a proxy."""

    def advance(self, seconds: float) -> None:
        """The clock takes waits by itself."""


@pytest.fixture(scope="module")
def proxied(typescript: Path) -> Iterator[ServedClient]:
    with serving("--clock", "auto", "--rate-limits", "off") as emulator:
        command = ("node_modules/.bin/prism", "proxy", "--port", "0", "--cors", "false", str(CONTRACT))
        with started(*command, emulator.base_url, folder=typescript, stderr=subprocess.DEVNULL) as prism:
            assert prism.stdout is not None
            lines = (re.search(r"listening on (http://\S+)", line) for line in prism.stdout)
            yield Proxied(next(found.group(1) for found in lines if found))


def test_a_validating_proxy_reports_nothing_on_any_operation(proxied: ServedClient) -> None:
    assert reported(take_tour(proxied)) == {}


def test_a_validating_proxy_reports_nothing_on_problems_and_finds_a_request_that_is_wrong(
    proxied: ServedClient,
) -> None:
    photoshoot = {"output_mode": "photoshoot", "asset_ids": ["unknown"]}
    answers = {
        "an unknown Asset": proxied.get("/assets/unknown"),
        "an unknown reference": proxied.post("/generations/product-photography", photoshoot),
        "a wrong number of pictures": proxied.post(
            "/generations/product-photography", {**photoshoot, "image_count": 3}
        ),
        "a cursor of another list": proxied.get("/assets?after=unknown"),
        "a wrong key": proxied.get("/team", "wrong"),
    }
    assert [404, 422, 422, 400, 401] == [answer.status for answer in answers.values()]
    assert reported(answers) == {}
    assert VIOLATIONS in proxied.post("/products", {"name": "Shirt"}).headers


def reported(answers: dict[str, Answer]) -> dict[str, str]:
    """What the proxy says of answers and their requests."""
    return {name: answer.headers[VIOLATIONS] for name, answer in answers.items() if VIOLATIONS in answer.headers}
