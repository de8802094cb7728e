"""Adds the files of others that the page is shipped with to a list of components (CycloneDX, JSON): `sbom.py FILE`.

Needs nothing but Python.
"""

import json
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
VENDORED: Final = ROOT / "emulator/image_workflow_emulator/control/page/vendored.json"
"""Components in the form of CycloneDX."""


def main(file: Path) -> None:
    """Add the components to the list in a file."""
    content = json.loads(file.read_text(encoding="utf-8"))
    components = content.setdefault("components", [])
    components += json.loads(VENDORED.read_text(encoding="utf-8"))
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
