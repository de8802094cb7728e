"""The list of components (`make sbom`) names the page's files by others."""

import json
import sys
from pathlib import Path

from tests.support.served import ROOT, run_program

PAGE = ROOT / "emulator/image_workflow_emulator/control/page"


def test_vendored_files_are_added_to_the_list(tmp_path: Path) -> None:
    file = tmp_path / "sbom.cdx.json"
    file.write_text('{"bomFormat": "CycloneDX", "components": [{"name": "msgspec"}]}')

    outcome = run_program(sys.executable, str(ROOT / ".ci/sbom.py"), str(file))

    components = json.loads(file.read_text())["components"]
    names = [component["name"] for component in components]
    assert outcome.status == 0
    assert names == ["msgspec", "htm", "swagger-ui-dist"]


def test_each_vendored_component_has_version_licence_and_origin() -> None:
    components = json.loads((PAGE / "vendored.json").read_text("utf-8"))

    for component in components:
        assert component["purl"].endswith(f"@{component['version']}")
        assert component["licenses"]
