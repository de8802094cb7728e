"""The fragments of the changelog, and how they are joined at a release."""

import re
import shutil
import sys
from pathlib import Path

from tests.support.served import ROOT, run_program

KINDS = "added|changed|deprecated|removed|fixed|security"


def test_every_fragment_is_named_by_its_kind_and_has_list_items() -> None:
    for file in (ROOT / "changes").glob("*.md"):
        assert file.name == "README.md" or re.fullmatch(rf"[\w-]+\.({KINDS})\.md", file.name)
        assert file.name == "README.md" or re.fullmatch(r"(- .+\n(  .+\n)*)+", file.read_text())


def test_fragments_are_joined_under_their_kind_and_deleted(tmp_path: Path) -> None:
    folder, changelog = tmp_path / "changes", tmp_path / "CHANGELOG.md"
    folder.mkdir()
    shutil.copy(ROOT / "changes/join.py", folder)
    changelog.write_text(
        "# Changelog\n\n## [2.0.0] - Unreleased\n\n### Added\n\n- a\n\n### Fixed\n\n- c\n\n## [1.0.0]\n"
    )
    for name, text in {"b.added": "- b\n", "d.security": "- d\n  e\n"}.items():
        (folder / f"{name}.md").write_text(text)
    assert run_program(sys.executable, "join.py", "2.0.0", "2026-01-01", folder=folder).status == 0
    added, fixed, security = "### Added\n\n- a\n- b\n\n", "### Fixed\n\n- c\n\n", "### Security\n\n- d\n  e\n\n"
    joined = f"# Changelog\n\n## [2.0.0] - 2026-01-01\n\n{added}{fixed}{security}## [1.0.0]\n"
    assert joined == changelog.read_text()
    assert [folder / "join.py"] == list(folder.iterdir())
    (folder / "f.fixed.md").write_text("- f\n")
    assert run_program(sys.executable, "join.py", "2.1.0", "2026-02-01", folder=folder).status == 0
    assert joined.replace("## [2.0", "## [2.1.0] - 2026-02-01\n\n### Fixed\n\n- f\n\n## [2.0") == changelog.read_text()
