"""What the emulator is: its health and versions, and the machine-readable contract."""

from typing import Any

from starlette.responses import Response

from emulator import __version__
from emulator.contract import DOCUMENT
from emulator.control.calls import Call
from emulator.documents import shipped_path


def health(call: Call) -> dict[str, Any]:
    """GET /health: there is an answer as soon as there is a service."""
    return {"status": "ok", "version": __version__, "contract_version": call.plane.contract.version}


def contract_as_json(call: Call) -> dict[str, Any]:
    """GET /contract and /contract.json."""
    return call.plane.contract.document


def contract_as_yaml(_call: Call) -> Response:
    """GET /contract.yaml: the document as it is shipped, byte for byte."""
    return Response(shipped_path(DOCUMENT).read_bytes(), media_type="application/yaml")
