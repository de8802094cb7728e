"""What the emulator is: its health and versions, the contract with its decisions and schemas, and the documentation.

The documentation is Markdown, for programs and people who have no clone: each page, their index, and `llms.txt`.
"""

import re
from pathlib import Path
from typing import Any, Final

from starlette.responses import Response

from image_workflow_emulator import __version__
from image_workflow_emulator.contract import BASE_PATH, DOCUMENT
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.dispatch import ControlCall
from image_workflow_emulator.documents import shipped_path
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.readings_format import described_readings

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


def list_readings(call: ControlCall) -> dict[str, Any]:
    """GET /readings: every reading, and whether this sandbox has it."""
    names = chosen(call.sandbox.readings)
    return {"data": [{**one, "chosen": f"{one['decision']}={one['id']}" in names} for one in described_readings()]}


def show_schema(call: ControlCall) -> Response:
    """GET /scenario.schema.json and /world.schema.json."""
    name = call.request.url.path.rpartition("/")[2]
    return Response(shipped_path(f"contract/{name}").read_bytes(), media_type=SCHEMA_TYPE)


# The documentation ----------------------------------------------------------------------------------------------------


MEDIA_TYPE: Final = "text/markdown"
SKILL: Final = "skills/image-workflow-emulator/SKILL.md"
_IMAGE: Final = re.compile(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*")
_OUTSIDE: Final = re.compile(r"\[([^]]*)\]\((?:\.\./)+([^)#]*)[^)]*\)")
"""A link of a page to a file of the repository that is no page."""


def show_documentation(call: ControlCall) -> Response:
    """GET /docs/PATH.md, or the index of the pages. Raises Problem not_found."""
    name = call.parameters.get("path") or "README.md"
    page = _pages().get(name)
    if page is None:
        raise Problem("not_found", f"{excerpt(name)}: there is no such page; GET {PREFIX}/docs/ lists them")
    text = page.read_text(encoding="utf-8").replace(f"](../{SKILL})", "](SKILL.md)")
    # Without pictures, and with links to no other files than pages.
    return Response(_OUTSIDE.sub(r"\1 (`\2`)", _IMAGE.sub("", text)), media_type=MEDIA_TYPE)


def llms_text(call: ControlCall) -> Response:
    """GET /llms.txt: where a program begins to read, with the addresses of this emulator."""
    text = shipped_path("llms.txt").read_text(encoding="utf-8")
    here = call.origin + PREFIX
    text = text.replace("](docs/", f"]({here}/docs/").replace("](contract/openapi.yaml)", f"]({here}/contract.yaml)")
    text = text.replace(f"]({SKILL})", f"]({here}/docs/SKILL.md)")
    return Response(text, media_type="text/plain")


def _pages() -> dict[str, Path]:
    """Return the file of every page, by its path below `docs`; the skill for agents is one."""
    folder = shipped_path("docs")
    files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*.md"))}
    return {**files, "SKILL.md": shipped_path(SKILL)}
