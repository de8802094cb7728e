"""The build hook of the wheel: compiles the YAML documents and puts everything shipped into `emulator/_shipped/`.

See emulator/documents/shipped.py for what is found there and how.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED_FOLDERS = ("contract", "scenarios")


class ShippedDocuments(BuildHookInterface[BuilderConfig]):
    """Adds contract/, scenarios/ and the compiled documents to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files of a wheel."""
        root = Path(self.root)
        sys.path.insert(0, self.root)
        try:
            from emulator.documents import compile_documents
        finally:
            sys.path.remove(self.root)
        included = build_data["force_include"]
        for folder in SHIPPED_FOLDERS:
            if (root / folder).is_dir():
                included[str(root / folder)] = f"emulator/_shipped/{folder}"
        for path in compile_documents():
            included[str(path)] = f"emulator/_shipped/compiled/{path.name}"
