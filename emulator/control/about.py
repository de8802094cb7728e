"""What the emulator is: its health and versions, and the contract with its decisions and schemas."""

import re
from typing import Any, Final

from starlette.responses import Response

from emulator import __version__
from emulator.contract import BASE_PATH, DOCUMENT
from emulator.control.calls import ControlCall
from emulator.documents import shipped_document, shipped_path
from emulator.domain.readings import chosen
from emulator.scenario.readings_format import described_readings

SCHEMA_TYPE: Final = "application/schema+json"
_SERVERS: Final = re.compile(r"^servers:\n(?:[ #-].*\n|\n)+", re.MULTILINE)
"""The list of servers in the contract's YAML."""


def health(call: ControlCall) -> dict[str, Any]:
    """GET /health: answered as soon as the service is ready."""
    return {"status": "ok", "version": __version__, "contract_version": call.plane.contract.version}


def contract_as_json(call: ControlCall) -> dict[str, Any]:
    """GET /contract and /contract.json; its server is the address that was asked."""
    document = call.plane.contract.document
    server = document["servers"][0]
    return {**document, "servers": [{**server, "url": call.origin + BASE_PATH, "description": "This emulator"}]}


def contract_as_yaml(call: ControlCall) -> Response:
    """GET /contract.yaml: the document as it is shipped, but for its server."""
    text = shipped_path(DOCUMENT).read_text(encoding="utf-8")
    servers = f"servers:\n  - url: {call.origin}{BASE_PATH}\n    description: This emulator\n"
    return Response(_SERVERS.sub(lambda _: servers, text, count=1), media_type="application/yaml")


def list_decisions(_call: ControlCall) -> dict[str, Any]:
    """GET /decisions: the ledger that the contract cites."""
    return {"data": shipped_document("contract/decisions.yaml")["decisions"]}


def list_readings(call: ControlCall) -> dict[str, Any]:
    """GET /readings: every reading, and whether this sandbox has it."""
    names = chosen(call.sandbox.readings)
    return {"data": [{**one, "chosen": f"{one['decision']}={one['id']}" in names} for one in described_readings()]}


def show_schema(call: ControlCall) -> Response:
    """GET /scenario.schema.json and /world.schema.json."""
    name = call.request.url.path.rpartition("/")[2]
    return Response(shipped_path(f"contract/{name}").read_bytes(), media_type=SCHEMA_TYPE)
