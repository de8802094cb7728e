"""What the emulator is: its health and versions, the contract with its decisions and schemas, and the documentation.

The documentation is Markdown, for programs and people without a clone: each page, their index, and `llms.txt`.
"""

import re
from posixpath import dirname, normpath
from typing import Any, Final

from starlette.responses import Response

from image_workflow_emulator import __version__
from image_workflow_emulator.contract import BASE_PATH, DOCUMENT
from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.dispatch import ControlCall
from image_workflow_emulator.documents.shipped import shipped_path
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.domain.readings import chosen
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.format import described_readings

_SERVERS: Final = re.compile(r"^servers:\n(?:[ #-].*\n|\n)+", re.MULTILINE)
"""The list of servers in the contract's YAML."""


def get_health(call: ControlCall) -> dict[str, Any]:
    """GET /health: answered as soon as the service is ready."""
    return {"status": "ok", "version": __version__, "contract_version": call.plane.contract.version}


def get_contract(call: ControlCall) -> dict[str, Any]:
    """GET /contract and /contract.json; its server is the address that was asked."""
    document = call.plane.contract.document
    server = {**document["servers"][0], "url": call.head.origin + BASE_PATH, "description": "This emulator"}
    return {**document, "servers": [server]}


get_contract_as_json = get_contract


def get_contract_as_yaml(call: ControlCall) -> Response:
    """GET /contract.yaml: the document as it is shipped, but for its server."""
    servers = f"servers:\n  - url: {call.head.origin}{BASE_PATH}\n    description: This emulator\n"
    text = _SERVERS.sub(lambda _: servers, shipped_path(DOCUMENT).read_text(encoding="utf-8"), count=1)
    return Response(text, media_type="application/yaml")


def list_readings(call: ControlCall) -> dict[str, Any]:
    """GET /readings: every reading, and whether this sandbox has it."""
    names = chosen(call.sandbox.readings)
    return {"data": [{**one, "chosen": f"{one['decision']}={one['id']}" in names} for one in described_readings()]}


def get_scenario_schema(call: ControlCall) -> Response:
    """GET /scenario.schema.json, and /world.schema.json."""
    name = call.head.path.rpartition("/")[2]
    return Response(shipped_path(f"contract/{name}").read_bytes(), media_type="application/schema+json")


get_world_schema = get_scenario_schema


# The documentation ----------------------------------------------------------------------------------------------------


_SKILL: Final = "skills/image-workflow-emulator/SKILL.md"
_IMAGE: Final = re.compile(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*")
_LINK: Final = re.compile(r"\[([^]]*)\]\((\.\./[^)#]*)([^)]*)\)")
"""A link of a page that leads out of its folder: its text, file and anchor."""


def get_page(call: ControlCall) -> Response:
    """GET /docs/PATH.md: a page, or the skill for agents. Raises Problem not_found."""
    name = call.parameters.get("path") or "README.md"
    folder = shipped_path("docs")
    pages = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.md")}
    page = {**pages, "SKILL.md": shipped_path(_SKILL)}.get(name)
    if page is None:
        raise Problem("not_found", f"{excerpt(name)}: there is no such page; GET {PREFIX}/docs/ lists them")
    text = page.read_text(encoding="utf-8").replace(f"](../{_SKILL})", "](SKILL.md)")

    def link(found: re.Match[str]) -> str:
        """Keep a link to another page; name any other file of the repository."""
        file = normpath(f"docs/{dirname(name)}/{found[2]}")
        return found[0] if file.startswith("docs/") else f"{found[1]} (`{file}`)"

    return Response(_LINK.sub(link, _IMAGE.sub("", text)), media_type="text/markdown")


list_pages = get_page
"""GET /docs: the index of the pages."""


def get_llms_text(call: ControlCall) -> Response:
    """GET /llms.txt: where a program begins to read, with the addresses of this emulator."""
    text, here = shipped_path("llms.txt").read_text(encoding="utf-8"), call.head.origin + PREFIX
    for file, address in (("docs/", "docs/"), ("contract/openapi.yaml", "contract.yaml"), (_SKILL, "docs/SKILL.md")):
        text = text.replace(f"]({file}", f"]({here}/{address}")
    return Response(text, media_type="text/plain")
