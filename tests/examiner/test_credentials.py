"""A credential that stands where others can read it."""

import httpx
import pytest

from image_workflow_emulator.testing import Sandbox
from tests.support.pictures import picture
from tests.support.served_client import ServedClient


@pytest.mark.parametrize(
    ("header", "value"),
    [
        pytest.param("X-Api-Key", "{key}", id="another header"),
        pytest.param("Cookie", "session={key}", id="a cookie"),
        pytest.param("Referer", "http://app/?key={key}", id="the Referer"),
    ],
)
def test_a_credential_in_a_header_of_a_request_for_bytes_is_found(
    sandbox: Sandbox,
    header: str,
    value: str,
) -> None:
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    asset = client.upload(picture())
    headers = {header: value.format(key=sandbox.api_key)}

    httpx.get(asset["url"], headers=headers)

    (finding,) = sandbox.conduct().findings
    assert finding.rule == "credential-sent-to-bytes"
    assert finding.severity == "error"
    assert sandbox.api_key not in str(finding)


def test_a_credential_in_the_query_of_a_request_for_bytes_is_found(
    sandbox: Sandbox,
) -> None:
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    asset = client.upload(picture())

    httpx.get(asset["url"], params={"key": sandbox.api_key})

    (finding,) = sandbox.conduct().findings
    assert finding.rule == "credential-sent-to-bytes"
    assert finding.severity == "error"
    assert sandbox.api_key not in str(finding)


def test_bytes_that_are_sent_without_a_credential_are_clean(sandbox: Sandbox) -> None:
    client = ServedClient(sandbox.base_url, sandbox.api_key)

    client.upload(picture())

    conduct = sandbox.conduct()
    assert conduct.findings == []
    assert conduct.checked["credential-sent-to-bytes"] > 0


def test_a_credential_in_an_idempotency_key_is_found(sandbox: Sandbox) -> None:
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    product = client.product(*client.assets(1))
    path = f"/products/{product['id']}"
    key = f"{sandbox.api_key}-1"

    client.patch(path, {"name": "Hat"}, idempotency_key=key)

    (finding,) = sandbox.conduct().findings
    assert finding.rule == "credential-in-request"


def test_a_credential_in_a_user_agent_is_found(sandbox: Sandbox) -> None:
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    headers = {"User-Agent": f"shop/1.0 ({sandbox.api_key})"}

    client.get("/team", headers=headers)

    (finding,) = sandbox.conduct().findings
    assert finding.rule == "credential-in-request"
    assert sandbox.api_key not in str(finding)


def test_a_credential_in_a_body_is_found(sandbox: Sandbox) -> None:
    client = ServedClient(sandbox.base_url, sandbox.api_key)
    product = client.product(*client.assets(1))
    path = f"/products/{product['id']}"
    body = {"description": f"made with {sandbox.api_key}"}

    client.patch(path, body)

    (finding,) = sandbox.conduct().findings
    assert finding.rule == "credential-in-request"
