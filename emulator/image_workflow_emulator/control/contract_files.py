"""The contract of the service and the schemas of files, as they are handed out."""

import re
from typing import Final

from starlette.responses import Response

from image_workflow_emulator.contract import BASE_PATH, DOCUMENT
from image_workflow_emulator.control import JsonObject
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.documents.shipped import shipped_path

_SERVERS: Final = re.compile(r"^servers:\n(?:[ #-].*\n|\n)+", re.MULTILINE)
"""The list of servers in the contract's YAML."""
_SERVER_DESCRIPTION: Final = "This emulator"


def get_contract(call: ControlCall) -> JsonObject:
    """GET /contract and /contract.json; its server is the address that was asked."""
    document = call.plane.contract.document
    server = {
        **document["servers"][0],
        "url": call.origin + BASE_PATH,
        "description": _SERVER_DESCRIPTION,
    }
    return {**document, "servers": [server]}


def get_contract_as_yaml(call: ControlCall) -> Response:
    """GET /contract.yaml: the document as it is shipped, except for its server."""
    servers = (
        "servers:\n"
        f"  - url: {call.origin}{BASE_PATH}\n"
        f"    description: {_SERVER_DESCRIPTION}\n"
    )
    shipped = shipped_path(DOCUMENT).read_text(encoding="utf-8")
    text = _SERVERS.sub(lambda _: servers, shipped, count=1)
    return Response(text, media_type="application/yaml")


def get_scenario_schema(call: ControlCall) -> Response:
    """GET /scenario.schema.json."""
    return _schema_response("contract/scenario.schema.json")


def get_world_schema(call: ControlCall) -> Response:
    """GET /world.schema.json."""
    return _schema_response("contract/world.schema.json")


def _schema_response(file: str) -> Response:
    content = shipped_path(file).read_bytes()
    return Response(content, media_type="application/schema+json")
