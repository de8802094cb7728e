"""The list of components (`make sbom`) names the page's files by others."""

import json
import sys
from pathlib import Path

from tests.packaging.pages import text_of
from tests.support.served import ROOT, run_program

PAGE = ROOT / "emulator/image_workflow_emulator/control/page"


LIST_OF_PACKAGES = """
{
  "bomFormat": "CycloneDX",
  "components": [
    {"name": "msgspec"}
  ]
}
"""


def test_vendored_files_are_added_to_the_list(tmp_path: Path) -> None:
    file = tmp_path / "sbom.cdx.json"
    file.write_text(LIST_OF_PACKAGES)

    outcome = run_program(sys.executable, ".ci/sbom.py", str(file))

    components = json.loads(text_of(file))["components"]
    names = [component["name"] for component in components]
    assert outcome.status == 0
    assert names == ["msgspec", "htm", "swagger-ui-dist"]


def test_each_vendored_component_has_version_licence_and_origin() -> None:
    components = json.loads(text_of(PAGE / "vendored.json"))

    for component in components:
        package_url = component["purl"]
        assert package_url.endswith(f"@{component['version']}")
        assert component["licenses"]
