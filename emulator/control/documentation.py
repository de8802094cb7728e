"""The documentation as Markdown, for programs and people who have no clone: each page, their index, and `llms.txt`."""

import re
from typing import Final

from starlette.responses import Response

from emulator.control import PREFIX
from emulator.control.calls import ControlCall
from emulator.documents import shipped_path
from emulator.domain.problems import Problem
from emulator.kernel.wording import excerpt

MEDIA_TYPE: Final = "text/markdown"
SKILL: Final = "skills/image-workflow-emulator/SKILL.md"
_IMAGE: Final = re.compile(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*")
_OUTSIDE: Final = re.compile(r"\[([^]]*)\]\((?:\.\./)+([^)#]*)[^)]*\)")
"""A link of a page to a file of the repository that is no page."""


def show_index(call: ControlCall) -> Response:
    """GET /docs/: the index of the pages."""
    return _response(_pages()["README.md"])


def show_page(call: ControlCall) -> Response:
    """GET /docs/PATH.md. Raises Problem not_found."""
    name = call.parameters["path"]
    text = _pages().get(name)
    if text is None:
        raise Problem("not_found", f"{excerpt(name)}: there is no such page; GET {PREFIX}/docs/ lists them")
    return _response(text)


def llms_text(call: ControlCall) -> Response:
    """GET /llms.txt: where a program begins to read, with the addresses of this emulator."""
    text = shipped_path("llms.txt").read_text(encoding="utf-8")
    here = call.origin + PREFIX
    text = text.replace("](docs/", f"]({here}/docs/").replace("](contract/openapi.yaml)", f"]({here}/contract.yaml)")
    text = text.replace(f"]({SKILL})", f"]({here}/docs/SKILL.md)")
    return Response(text, media_type="text/plain")


def _pages() -> dict[str, str]:
    """Return the text of every page, by its path below `docs`; the skill for agents is one."""
    folder = shipped_path("docs")
    files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*.md"))}
    files["SKILL.md"] = shipped_path(SKILL)
    return {name: file.read_text(encoding="utf-8") for name, file in files.items()}


def _response(page: str) -> Response:
    """Return a page without pictures, and with links to no other files than pages."""
    text = page.replace(f"](../{SKILL})", "](SKILL.md)")
    return Response(_OUTSIDE.sub(r"\1 (`\2`)", _IMAGE.sub("", text)), media_type=MEDIA_TYPE)
