"""The hooks of the build.

One compiles the YAML documents and puts everything shipped into `image_workflow_emulator/_shipped/` of the wheel; see
emulator/image_workflow_emulator/documents/shipped.py for what is found there and how. The other makes the package's
description of the README.
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
    """Adds what the emulator reads while it runs to the wheel: contract, scenarios, documentation, compiled
    documents.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files of a wheel."""
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
    """Describes the package by the README, with nothing that leads into a repository which an index does not have."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling for the fields that are dynamic, before pip looks at the version of Python."""
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
    text, path = link[1], link[2]
    return text if text == path else f"{text} (`{path}`)"
