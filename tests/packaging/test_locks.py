"""The locks: hashed, of one mind, and free of any machine's addresses and paths."""

import json
import re

import pytest

from tests.support.served import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-build.lock", "requirements-verify.lock")


def pins(lock: str) -> dict[str, str]:
    """Name and version of everything in a lock."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)(?:\[[a-z-]+\])?==(\S+)", (ROOT / lock).read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_pins_and_hashes_and_nothing_else(lock: str) -> None:
    for line in (ROOT / lock).read_text().splitlines():
        assert re.fullmatch(
            r"#.*|[a-z0-9._-]+(?:\[[a-z-]+\])?==[^/:@]+ \\|    --hash=sha256:[0-9a-f]{64}(?: \\)?", line
        ), line


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-build.lock"])
def test_the_development_lock_holds_every_package_of_the_others_in_the_same_version(lock: str) -> None:
    assert pins(lock).items() <= pins("requirements-dev.lock").items()


def test_the_lock_of_the_typescript_example_has_its_packages_by_hash_and_no_address_of_an_index() -> None:
    folder = ROOT / "examples" / "typescript"
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert json.loads((folder / "package.json").read_text())["devDependencies"] == packages.pop("")["devDependencies"]
    assert set() == {name for name, package in packages.items() if "resolved" in package or "integrity" not in package}
