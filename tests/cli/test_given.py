"""The command `given`, which seeds a running emulator from a file."""

import json
from pathlib import Path

import pytest

from tests.cli.command import ask, run_command
from tests.packaging.pages import fences
from tests.support.served import EMULATOR, ROOT, Server, run_program

SHOP = """\
given:
  - product: {name: Linen shirt, photos: 2}
  - fashion_model: {name: Ava}
  - photoshoot:
      products: [Linen shirt]
      fashion_model: {type: selected, fashion_model_id: Ava}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(SHOP)
    return path


def test_what_was_made_is_listed(server: Server, file: Path) -> None:
    outcome = run_command(
        "given",
        str(file),
        "--format",
        "json",
        EMULATOR_URL=server.url,
    )

    product, model, shoot = json.loads(outcome.output)["data"]
    assert product["object"] == "product"
    assert product["id"].startswith("prd_")
    assert model["object"] == "fashion_model"
    assert model["id"]
    assert shoot["object"] == "generation"
    assert shoot["id"]


def test_what_was_made_is_there(server: Server, file: Path) -> None:
    outcome = run_command("given", str(file), EMULATOR_URL=server.url)

    (product,) = ask(server, "/v1/products")["data"]
    assert outcome.status == 0
    assert product["name"] == "Linen shirt"


def test_a_mistake_is_told_with_its_place_and_makes_nothing(
    server: Server,
    file: Path,
) -> None:
    file.write_text(SHOP.replace("products: [Linen shirt]", "products: [Skirt]"))

    outcome = run_command("given", str(file), EMULATOR_URL=server.url)

    assert outcome.status == 2
    assert outcome.output == ""
    assert f"{file}:5:18: /given/2/photoshoot/products/0: found" in outcome.complaint
    assert ask(server, "/v1/products")["data"] == []


def test_the_file_of_the_documentation_is_taken_from_standard_input(
    server: Server,
) -> None:
    _, shown = fences(ROOT / "docs/control.md", "yaml")[-1]

    outcome = run_program(
        *EMULATOR,
        "given",
        "-",
        "--team",
        "Other",
        given=shown,
        EMULATOR_URL=server.url,
    )

    assert outcome.status == 0
    assert outcome.complaint == ""
