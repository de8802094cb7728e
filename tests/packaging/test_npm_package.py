"""The npm package of the TypeScript helper: packed, and used by a fresh project."""

import json
import shutil
from pathlib import Path

import pytest

from image_workflow_emulator import __version__
from tests.clients.generated import install_packages, run
from tests.packaging.pages import fences
from tests.support.served import EMULATOR, ROOT


def test_its_version_is_that_of_the_emulator() -> None:
    for name in ("package.json", "package-lock.json"):
        assert json.loads((ROOT / "npm" / name).read_text())["version"] == __version__


@pytest.mark.verify
def test_a_fresh_project_uses_what_was_packed(tmp_path: Path) -> None:
    package, project = tmp_path / "npm", tmp_path / "project"
    shutil.copytree(ROOT / "npm", package, ignore=shutil.ignore_patterns("node_modules", "dist", "src"))
    shutil.copytree(ROOT / "examples/typescript", tmp_path / "examples/typescript")
    install_packages(package)
    run(["npm", "pack"], package)
    (packed,) = package.glob("*.tgz")
    project.mkdir()
    ((_, shown),) = fences(ROOT / "npm/README.md", "ts")
    (project / "emulator.test.ts").write_text(shown)
    own = json.loads((package / "package.json").read_text())["devDependencies"]
    dependencies = {**own, "image-workflow-emulator": f"file:{packed}"}
    (project / "package.json").write_text(json.dumps({"type": "module", "devDependencies": dependencies}))
    shutil.copy(ROOT / "examples/typescript/tsconfig.json", project)
    run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"], project)
    run(["npx", "tsc", "--noEmit"], project)
    run([*EMULATOR, "exec", "--", "npx", "vitest", "run"], project, PYTHONPATH=str(ROOT))
