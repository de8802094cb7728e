"""What the emulator is: its health and versions, and the machine-readable contract (interfaces, section 6)."""

import orjson

from emulator import __version__
from emulator.contract import DOCUMENT
from emulator.control.calls import Call, Reply
from emulator.documents import shipped_path


def health(call: Call) -> Reply:
    """GET /health: there is an answer as soon as there is a service."""
    return Reply({"status": "ok", "version": __version__, "contract_version": call.plane.contract.version})


def contract_as_json(call: Call) -> Reply:
    """GET /contract and /contract.json."""
    return Reply(orjson.dumps(call.plane.contract.document))


def contract_as_yaml(_call: Call) -> Reply:
    """GET /contract.yaml: the document as it is shipped, byte for byte."""
    return Reply(shipped_path(DOCUMENT).read_bytes(), media_type=b"application/yaml")
