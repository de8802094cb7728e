"""Clients that other people's generators make from the contract, each on the same tour against a real server.

From the upload to the downloaded pictures, with polls that wait as Retry-After says, and a problem told by its code; and
the types that the generator made hold, as the type checker of its language sees them.
"""

import os
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.generated import (
    CONTRACT,
    PACKAGE,
    TOURS,
    check_types,
    need,
    npm_folder,
    run,
    take_tour,
    tool,
)

pytestmark = pytest.mark.verify

SEEN: Final[dict[str, Any]] = {
    "photo": ["jpeg", 640, 480],
    "product_photos": 1,
    "fashion_model": "Kim",
    "pictures": [["webp", 820, 1024, True]] * 4,
    "polls": 5,  # one for each change: begun, and each output done
    "problem": "invalid_input",
    "credits": 97,
}


def test_the_client_of_openapi_python_client_completes_the_tour(tmp_path: Path) -> None:
    generator = tool("openapi-python-client")
    (tmp_path / "options.yaml").write_text("post_hooks: []\n")  # its code is not to be read
    options = ("--meta", "none", "--config", "options.yaml", "--fail-on-warning")
    run([generator, "generate", "--path", CONTRACT, "--output-path", tmp_path / PACKAGE, *options], tmp_path)
    assert_python_tour("openapi_python_client_tour.py", tmp_path)


def test_the_client_of_openapi_generator_completes_the_tour(tmp_path: Path) -> None:
    need("java")
    generator = tool("openapi-generator-cli")
    options = ("--package-name", PACKAGE, "--global-property", "apiTests=false,modelTests=false")
    run([generator, "generate", "-g", "python", "-i", CONTRACT, "-o", tmp_path, *options], tmp_path)
    assert_python_tour("openapi_generator_tour.py", tmp_path)


def assert_python_tour(name: str, folder: Path) -> None:
    assert SEEN == take_tour([sys.executable, TOURS / name], folder, PYTHONPATH=str(folder))
    check_types(TOURS / name, folder)


def test_the_client_of_openapi_typescript_and_openapi_fetch_completes_the_tour(tmp_path: Path) -> None:
    folder = npm_folder(tmp_path)
    programs = folder / "node_modules" / ".bin"
    # By default it takes a field that has a default for one that is always there, also where a request may leave it out.
    run([programs / "openapi-typescript", CONTRACT, "--default-non-nullable", "false", "-o", "service.d.ts"], folder)
    run([programs / "tsc", "-p", "."], folder)
    assert SEEN == take_tour(["node", "made/tour.js"], folder, NO_COLOR="1", PATH=os.environ["PATH"])
