"""Seeding: `given` of a sandbox, and the command `given`."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from image_workflow_emulator.testing import EmulatorError, Sandbox, create_app
from tests.cli.command import run_command
from tests.packaging.pages import fences
from tests.support.served import EMULATOR, ROOT, run_program, serving
from tests.support.state_files import parts_of

SEED = """\
given:
  - product: {name: Linen shirt, photos: 2}
  - fashion_model: {name: Ava}
  - photoshoot: {products: [Linen shirt], fashion_model: {type: selected, fashion_model_id: Ava}}
"""


@pytest.fixture(params=["manual", "auto", "real", "stingy"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    options = (
        {"readings": request.param}
        if request.param == "stingy"
        else {"clock": request.param}
    )
    with closing(create_app(**options)) as app:
        yield app.sandbox


@pytest.fixture
def manual() -> Iterator[Sandbox]:
    with closing(create_app(clock="manual")) as app:
        yield app.sandbox


def make_everything(sandbox: Sandbox) -> list[Any]:
    given = sandbox.given
    shirt = given.product("Linen shirt", photos=2, description="White")
    made = [
        given.fashion_model("Ava"),
        given.background("Wall"),
        given.pose("Sitting"),
        given.photography_style("Dim"),
    ]
    return [
        shirt,
        *made,
        given.photoshoot(products=[shirt, shirt["id"]][:1], resolution="2k"),
    ]


def test_everything_is_returned_when_it_is_finished_and_is_no_request_of_the_journal(
    sandbox: Sandbox,
) -> None:
    *library, shoot = make_everything(sandbox)
    assert [one["object"] for one in library] == [
        "product",
        "fashion_model",
        "background",
        "pose",
        "photography_style",
    ]
    assert len(library[0]["asset_ids"]) == 2
    assert (shoot["object"], shoot["status"], len(shoot["outputs"])) == (
        "generation",
        "completed",
        4,
    )
    assert sandbox.team("Demo").reserved == 0
    assert (
        sandbox.requests(),
        sandbox.conduct().findings,
        sandbox.coverage()["percent"],
    ) == ([], [], 0)


def test_no_rule_for_requests_and_no_limit_of_them_holds_for_what_is_given_but_rules_for_work(
    manual: Sandbox,
) -> None:
    rules = [
        {"then": {"problem": "internal_error"}},
        {"match": {"work": "pose.create"}, "then": {"fail": "timed_out"}},
    ]
    manual.use({"scenario": "s", "rules": rules})
    manual.team("Demo").set(requests_per_minute=3)
    assert (
        len({manual.given.product(f"Shirt {number}")["id"] for number in range(8)}) == 8
    )
    with pytest.raises(EmulatorError, match="timed_out"):
        manual.given.pose("Sitting")
    assert [(rule.matched, rule.fired) for rule in manual.rules] == [(0, 0), (1, 1)]


def test_a_photoshoot_that_is_not_to_be_finished_stays_queued_and_the_clock_where_it_is(
    manual: Sandbox,
) -> None:
    before = manual.clock.now
    shoot = manual.given.photoshoot(
        products=[manual.given.product("Shirt")], finished=False
    )
    assert (shoot["status"], manual.clock.now) == ("queued", before)
    manual.given.fashion_model("Ava")
    assert manual.clock.now > before


def test_the_same_is_given_again_after_a_reset_byte_for_byte(manual: Sandbox) -> None:
    first = json.dumps(make_everything(manual))
    manual.reset()
    assert json.dumps(make_everything(manual)) == first


def test_a_refusal_has_the_code_of_the_service(sandbox: Sandbox) -> None:
    sandbox.team("Demo").set(credits=0)
    shirt = sandbox.given.product("Shirt")
    with pytest.raises(EmulatorError, match="insufficient_credits") as refused:
        sandbox.given.photoshoot(products=[shirt])
    assert (refused.value.code, refused.value.status) == ("insufficient_credits", 402)
    with pytest.raises(EmulatorError, match="invalid_reference"):
        sandbox.given.photoshoot(products=["prd_unknown"])


def test_a_file_is_seeded_and_listed_and_a_bad_one_makes_nothing(
    tmp_path: Path,
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(SEED)
    bad.write_text(SEED.replace("products: [Linen shirt]", "products: [Linen shirts]"))
    with serving("--clock", "manual") as server:
        refused = run_command("given", str(bad), EMULATOR_URL=server.url)
        assert (refused.status, refused.output) == (2, "")
        assert f"{bad}:4:29: /given/2/photoshoot/products/0: found" in refused.complaint
        empty = json.loads(
            run_command("requests", "--format", "json", EMULATOR_URL=server.url).output
        )
        assert empty["data"] == []
        outcome = run_command(
            "given", str(good), "--format", "json", EMULATOR_URL=server.url
        )
        made = json.loads(outcome.output)["data"]
        assert [(one["object"], bool(one["id"])) for one in made] == [
            ("product", True),
            ("fashion_model", True),
            ("generation", True),
        ]
        assert made[0]["id"].startswith("prd_")
        shown = fences(ROOT / "docs/control.md", "yaml")[-1][1]
        seeded = run_program(
            *EMULATOR,
            "given",
            "-",
            "--team",
            "Other",
            given=shown,
            EMULATOR_URL=server.url,
        )
        assert (0, "") == (seeded.status, seeded.complaint)


@pytest.mark.parametrize(
    ("second", "complaint"),
    [
        (
            "product: {name: b, photo: 2}",
            '3:24: /given/1/product/photo: found an unknown field; expected only name, photos, description, dimensions, asset_ids, primary_asset_id; did you mean "photos"?',
        ),
        (
            "photoshoot: {products: [c]}",
            '3:29: /given/1/photoshoot/products/0: found "c"; expected the name of a Product above, or an id',
        ),
        (
            "photoshoot: {products: [a], resolution: 8k}",
            '3:45: /given/1/photoshoot/resolution: found "8k"; expected one of 1k, 2k, 4k',
        ),
        (
            "background: {name: b, kind: sea}",
            '3:33: /given/1/background/kind: found "sea"; expected one of backdrop, location',
        ),
    ],
)
def test_nothing_is_made_of_a_file_with_a_mistake(
    manual: Sandbox, tmp_path: Path, second: str, complaint: str
) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(f"given:\n  - product: {{name: a}}\n  - {second}\n")
    with pytest.raises(EmulatorError) as refused:
        manual.given.file(file)
    assert str(refused.value).startswith(f"{file}:{complaint}")
    with pytest.raises(
        EmulatorError,
        match=r'^/given/0/product/photo: found an unknown field.* did you mean "photos"',
    ):
        manual.given.product("x", photo=2)  # in no file
    manual.save(tmp_path / "state")
    assert (
        not {"products", "assets"} & parts_of((tmp_path / "state").read_bytes()).keys()
    )


@pytest.mark.parametrize(
    "entry",
    [
        {"product": {"name": "a", "asset_ids": 5}},
        {"product": {"name": "a", "asset_ids": [[1]], "description": 2**70}},
        {"product": {"name": "a", "dimensions": {"a": [{"b_id": ["a"]}]}}},
        {"pose": {"name": "\ud800", "asset_id": [1]}},
        {"photoshoot": {"products": ["prd_1"], "image_count": 1e400, "photos": 3}},
        {"product": {"name": 7}},
        {"photoshoot": {"products": []}},
        {},
    ],
)
def test_whatever_an_entry_holds_it_is_refused_with_a_reason(
    manual: Sandbox, entry: Any
) -> None:
    with pytest.raises(EmulatorError) as refused:
        manual._plane.exchange("POST", "given", json.dumps({"given": [entry]}).encode())
    assert refused.value.status in (400, 422)


def test_what_is_refused_leaves_no_key_behind_where_refusals_bind_keys(
    tmp_path: Path,
) -> None:
    app = create_app(clock="manual", readings={"D10": "binds-refusals"})
    with pytest.raises(EmulatorError):
        app.sandbox.given.photoshoot(products=["prd_00000000000000000000000000"])
    app.sandbox.save(tmp_path / "state")
    app.close()
    assert "records" not in parts_of((tmp_path / "state").read_bytes())
