"""The documentation as Markdown, for programs and people who have no clone: each page, the list of them, and `llms.txt`."""

import re
from typing import Final

from starlette.responses import Response

from emulator.control import PREFIX
from emulator.control.calls import ControlCall
from emulator.documents import shipped_path
from emulator.domain.problems import Problem
from emulator.kernel.wording import excerpt

MEDIA_TYPE: Final = "text/markdown"
_IMAGE: Final = re.compile(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*")
_OUTSIDE: Final = re.compile(r"\[([^]]*)\]\((?:\.\./)+([^)#]*)[^)]*\)")
"""A link of a page to a file of the repository that is no page."""


def list_pages(call: ControlCall) -> Response:
    """GET /docs/: every page by its title."""
    listed = [f"- [{_title(text)}]({name})" for name, text in _pages().items()]
    return Response("\n".join(["# Documentation", "", *listed, ""]), media_type=MEDIA_TYPE)


def show_page(call: ControlCall) -> Response:
    """GET /docs/PATH.md. Raises Problem not_found."""
    name = call.parameters["path"]
    text = _pages().get(name)
    if text is None:
        raise Problem("not_found", f"{excerpt(name)}: there is no such page; GET {PREFIX}/docs/ lists them")
    return Response(_OUTSIDE.sub(r"\1 (`\2`)", _IMAGE.sub("", text)), media_type=MEDIA_TYPE)


def llms_text(call: ControlCall) -> Response:
    """GET /llms.txt: where a program begins to read, with the addresses of this emulator."""
    text = shipped_path("llms.txt").read_text(encoding="utf-8")
    here = call.origin + PREFIX
    text = text.replace("](docs/", f"]({here}/docs/").replace("](contract/openapi.yaml)", f"]({here}/contract.yaml)")
    text = text.replace("](skills/image-workflow-emulator/SKILL.md)", f"]({here}/docs/SKILL.md)")
    return Response(text, media_type="text/plain")


def _pages() -> dict[str, str]:
    """Return the text of every page, by its path below `docs`; the skill for agents is one."""
    folder = shipped_path("docs")
    files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*.md"))}
    files["SKILL.md"] = shipped_path("skills/image-workflow-emulator/SKILL.md")
    return {name: file.read_text(encoding="utf-8") for name, file in files.items()}


def _title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else ""
