"""Any history of a Team: whatever a client does in whatever order, what must always hold holds."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.support.emulator_client import INGREDIENT_PATHS, KINDS, EmulatorUnderTest, Json, settings_of, source_fields

SCENARIO = """
scenario: some work fails
rules:
  - {match: {work: product_photography}, when: {nth: every 3}, then: {outputs: {1: timed_out, 3: content_rejected}}}
  - {match: {work: "*"}, when: {nth: every 4}, then: {fail: processing_failed}}
  - {match: {work: pose.create}, when: {nth: every 3}, then: {stall: true}}
"""


class AnyClient(RuleBasedStateMachine):
    """A client without a plan. Some work fails, some stalls, and Credits and places are few."""

    def __init__(self) -> None:
        super().__init__()
        with TemporaryDirectory() as folder:
            chosen = settings_of(Path(folder), rate_limits=False, scenario=SCENARIO)
            self.emulator = EmulatorUnderTest(chosen)
        for kind in ("background", "pose", "fashion_model"):
            self.emulator.author(kind)
        self.emulator.set_team(credits_available=12, concurrency_limit=4)
        self.assets = self.emulator.assets(4)

    def teardown(self) -> None:
        self.emulator.close()

    def some(self, data: st.DataObject, count: int) -> list[str]:
        """Choose Assets, deleted ones among them."""
        return data.draw(st.lists(st.sampled_from(self.assets), min_size=1, max_size=count, unique=True))

    def listed(self, path: str, data: st.DataObject) -> str:
        items = self.emulator.items(path)
        return str(data.draw(st.sampled_from(items))["id"]) if items else "none"

    @rule()
    def upload(self) -> None:
        self.assets += self.emulator.assets(1)

    @rule(data=st.data())
    def create_product(self, data: st.DataObject) -> None:
        chosen = self.some(data, 3)
        body = {"name": "P", "asset_ids": chosen, "primary_asset_id": data.draw(st.sampled_from(chosen))}
        assert self.emulator.post("/products", body).status in (201, 422)

    @rule(data=st.data())
    def change_product(self, data: st.DataObject) -> None:
        product = self.listed("/products", data)
        answer = self.emulator.patch(f"/products/{product}", {"asset_ids": self.some(data, 3)})
        assert answer.status in (200, 404, 422)

    @rule(data=st.data())
    def delete_product(self, data: st.DataObject) -> None:
        assert self.emulator.delete(f"/products/{self.listed('/products', data)}").status in (204, 404)

    @rule(data=st.data())
    def delete_asset(self, data: st.DataObject) -> None:
        assert self.emulator.delete(f"/assets/{self.some(data, 1)[0]}").status in (200, 404, 409)

    @rule(data=st.data(), kind=st.sampled_from(KINDS))
    def author(self, data: st.DataObject, kind: str) -> None:
        required: Json = {
            "background": {"kind": "location"},
            "fashion_model": {"age_range": "55+", "gender": "male"},
        }.get(kind, {})
        sources = self.assets[-3:] if kind == "photography_style" else self.some(data, 3)
        body = {"name": "I", **required, **source_fields(kind, sources)}
        assert self.emulator.post(INGREDIENT_PATHS[kind], body).status in (202, 402, 422, 429)

    @rule(data=st.data(), kind=st.sampled_from(KINDS), renames=st.booleans())
    def change_ingredient(self, data: st.DataObject, kind: str, renames: bool) -> None:
        path = INGREDIENT_PATHS[kind]
        target = f"{path}/{self.listed(f'{path}?scope=team', data)}"
        body = {"name": "J"} if renames else source_fields(kind, self.some(data, 3))
        assert self.emulator.patch(target, body).status in (200, 202, 402, 404, 409, 422, 429)

    @rule(data=st.data(), kind=st.sampled_from(KINDS))
    def delete_ingredient(self, data: st.DataObject, kind: str) -> None:
        path = INGREDIENT_PATHS[kind]
        assert self.emulator.delete(f"{path}/{self.listed(f'{path}?scope=team', data)}").status in (204, 404, 409)

    @rule(data=st.data(), count=st.integers(1, 6))
    def photograph(self, data: st.DataObject, count: int) -> None:
        answer = self.emulator.photograph(asset_ids=self.some(data, 5), image_count=count)
        assert answer.status in (202, 402, 422, 429)

    @rule(seconds=st.sampled_from([0.5, 1, 4, 5, 30, 1000]))
    def wait(self, seconds: float) -> None:
        self.emulator.advance(seconds)

    @rule(amount=st.integers(0, 12))
    def set_credits(self, amount: int) -> None:
        self.emulator.set_team(credits_available=amount)

    @invariant()
    def credits_add_up(self) -> None:
        ledger = self.emulator.account().ledger
        works = self.emulator.items("/operations") + self.emulator.items("/generations")
        charged = sum(work["credits"]["charged"] or 0 for work in works)
        reserved = sum(work["credits"]["reserved"] for work in works if work["credits"]["charged"] is None)
        assert (ledger.charged, ledger.reserved, ledger.available) == (charged, reserved, self.emulator.credits())

    @invariant()
    def the_budget_is_the_unfinished_work(self) -> None:
        works = self.emulator.items("/operations") + self.emulator.items("/generations")
        unfinished = [work for work in works if work["status"] in ("queued", "processing")]
        used = self.emulator.get("/team").json["capabilities"]["api_concurrency"]["used"]
        assert used == len(unfinished) <= 4

    @invariant()
    def products_have_live_photos_and_a_primary_among_them(self) -> None:
        live = {asset["id"] for asset in self.emulator.items("/assets?source=upload")}
        for product in self.emulator.items("/products"):
            assert product["primary_asset_id"] in product["asset_ids"]
            assert live.issuperset(product["asset_ids"])

    @invariant()
    def terminal_work_is_consistent(self) -> None:
        for generation in self.emulator.items("/generations"):
            statuses = [output["status"] for output in generation["outputs"]]
            ended = not {"pending", "processing"} & set(statuses)
            expected = ("completed" if "completed" in statuses else "failed") if ended else generation["status"]
            assert (generation["status"], generation["finished_at"] is not None) == (expected, ended)
        for operation in self.emulator.items("/operations"):
            assert (operation["result"] is not None) == (operation["status"] == "completed")
            assert (operation["error"] is not None) == (operation["status"] == "failed")

    @invariant()
    def no_picture_is_held_by_nobody(self) -> None:
        assert all(picture.holds > 0 for picture in self.emulator.sandbox.images.pictures.values())


TestAnyClient = AnyClient.TestCase
TestAnyClient.settings = settings(max_examples=30, stateful_step_count=30)
