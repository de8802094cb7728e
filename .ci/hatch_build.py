"""The hooks of the build.

One compiles the YAML documents and puts everything shipped into the wheel, below
`image_workflow_emulator/_shipped/`, where `documents/shipped.py` finds it. The other
makes the package's description from the README.
"""

import re
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

SHIPPED_FOLDERS = ("contract", "scenarios", "docs", "skills")


class ShippedDocuments(BuildHookInterface[BuilderConfig]):
    """Adds to the wheel what the emulator reads while it runs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to include; hatchling calls this before it collects them."""
        root = Path(self.root)
        source = str(root / "emulator")
        sys.path.insert(0, source)
        try:
            from image_workflow_emulator.documents.shipped import compile_documents
        finally:
            sys.path.remove(source)
        compiled = compile_documents()
        if version == "editable":  # a checkout's own files are read where they lie
            return
        included = build_data["force_include"]
        for folder in SHIPPED_FOLDERS:
            if (root / folder).is_dir():
                included[str(root / folder)] = (
                    f"image_workflow_emulator/_shipped/{folder}"
                )
        included[str(root / "llms.txt")] = "image_workflow_emulator/_shipped/llms.txt"
        for path in compiled:
            included[str(path)] = (
                f"image_workflow_emulator/_shipped/compiled/{path.name}"
            )


class Description(MetadataHookInterface):
    """Describes the package by the README, without links into the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dynamic fields; pip has not yet compared the version of Python."""
        if sys.version_info < (3, 11):  # noqa: UP036 (pip may run it with an older one)
            sys.exit(
                "The emulator needs Python 3.11 or newer: python3.11 -m pip install ..."
            )
        text = (Path(self.root) / "README.md").read_text("utf-8")
        text = re.sub(r"!\[[^]]*\]\((?!\w+:)[^)]*\)\n*", "", text)
        text = re.sub(r"\[([^]]*)\]\((?!\w+:)([^)#]*)[^)]*\)", _named, text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def _named(link: re.Match[str]) -> str:
    """Write a link to a file of the repository as its text and the file's name."""
    text = link[1]
    path = link[2]
    return text if text == path else f"{text} (`{path}`)"
