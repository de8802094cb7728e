"""The documentation as Markdown, for programs and for people without a clone: each
page, their index, and `llms.txt`.
"""

import re
from posixpath import dirname, normpath
from typing import Final

from starlette.responses import Response

from image_workflow_emulator.control import PREFIX
from image_workflow_emulator.control.endpoint import ControlCall
from image_workflow_emulator.documents.shipped import shipped_path
from image_workflow_emulator.domain.problems import Problem
from image_workflow_emulator.kernel.wording import excerpt

_INDEX: Final = "README.md"
_SKILL: Final = "skills/image-workflow-emulator/SKILL.md"
_IMAGE: Final = re.compile(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*")
_LINK: Final = re.compile(r"\[([^]]*)\]\((\.\./[^)#]*)([^)]*)\)")
"""A link of a page that leads out of its folder: its text, file and anchor."""
_ADDRESSES: Final = {
    "docs/": "docs/",
    "contract/openapi.yaml": "contract.yaml",
    _SKILL: "docs/SKILL.md",
}
"""How links of `llms.txt` begin, and the addresses below the control plane of what they
lead to."""


def list_pages(call: ControlCall) -> Response:
    """GET /docs: the index of the pages."""
    return _page_response(_INDEX)


def get_page(call: ControlCall) -> Response:
    """GET /docs/PATH.md: a page, or the skill for agents; GET /docs/: the index.

    Raises:
        Problem: not_found.
    """
    return _page_response(call.parameters["path"] or _INDEX)


def get_llms_text(call: ControlCall) -> Response:
    """GET /llms.txt: where a program begins to read, with the addresses of this
    emulator.
    """
    text = shipped_path("llms.txt").read_text(encoding="utf-8")
    here = call.origin + PREFIX
    for file, address in _ADDRESSES.items():
        text = text.replace(f"]({file}", f"]({here}/{address}")
    return Response(text, media_type="text/plain")


def _page_response(name: str) -> Response:
    folder = shipped_path("docs")
    pages = {"SKILL.md": shipped_path(_SKILL)}
    for file in folder.rglob("*.md"):
        path = file.relative_to(folder)
        pages[path.as_posix()] = file
    page = pages.get(name)
    if page is None:
        listed = f"GET {PREFIX}/docs/ lists them"
        detail = f"{excerpt(name)}: there is no such page; {listed}"
        raise Problem("not_found", detail)
    text = page.read_text(encoding="utf-8")
    text = text.replace(f"](../{_SKILL})", "](SKILL.md)")
    text = _IMAGE.sub("", text)

    def reachable_link(link: re.Match[str]) -> str:
        """Keep a link to another page; name any other file of the repository."""
        file = normpath(f"docs/{dirname(name)}/{link[2]}")
        if file.startswith("docs/"):
            return link[0]
        return f"{link[1]} (`{file}`)"

    return Response(_LINK.sub(reachable_link, text), media_type="text/markdown")
