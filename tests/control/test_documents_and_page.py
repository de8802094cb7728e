"""What the emulator says of itself: health, contract, page."""

import re

import pytest

from emulator import __version__
from emulator.documents import shipped_document, shipped_path
from tests.control.controlled_emulator import ControlledEmulator


def test_health_tells_the_versions(control: ControlledEmulator) -> None:
    assert control.told("GET", "/health") == {"status": "ok", "version": __version__, "contract_version": "1.0.0"}


@pytest.mark.parametrize("path", ["/contract", "/contract.json"])
def test_the_contract_is_served_as_json(control: ControlledEmulator, path: str) -> None:
    answer = control.ask("GET", path)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == shipped_document("contract/openapi.yaml")


def test_the_contract_is_served_as_yaml_byte_for_byte(control: ControlledEmulator) -> None:
    answer = control.ask("GET", "/contract.yaml")
    assert answer.headers["content-type"] == "application/yaml"
    assert answer.body == shipped_path("contract/openapi.yaml").read_bytes()


def test_the_page_shows_address_and_keys_and_loads_nothing(control: ControlledEmulator) -> None:
    control.told("POST", "/teams", {"name": "<b>Bold</b>"})
    answer = control.ask("GET", "")
    text = answer.body.decode()
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "<code>http://emulator.test/v1</code>" in text
    for shown in ("iwe_demo_full", "<td>expired</td>", "<td>revoked</td>", "&lt;b&gt;Bold&lt;/b&gt;"):
        assert shown in text
    assert "<b>Bold" not in text
    assert not re.search(r"\bsrc=|<script|<link|url\(", text)


def test_every_link_of_the_page_leads_somewhere(control: ControlledEmulator) -> None:
    links = re.findall(r'href="/_emulator([^"]*)"', control.ask("GET", "").body.decode())
    assert len(links) > 5
    assert {control.ask("GET", link).status for link in links} == {200}
