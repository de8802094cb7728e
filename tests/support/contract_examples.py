"""The examples of the contract, as the emulator answers.

One story brings about each of them. `make contract` writes them into
contract/openapi.yaml, of which they are the last part; a test holds that part against
the story. Knows no schema.
"""

import re
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import yaml
from derived_documents import CONTRACT

from image_workflow_emulator.domain.problems import CATALOGUE
from tests.support.emulator_client import Answer, Json
from tests.support.emulator_under_test import EmulatorUnderTest, settings_of
from tests.support.every_operation import CAUSES
from tests.support.pictures import picture

DRAWN_BYTES: Final = 40_000
HEADING: Final = "  # ---- Examples "
SCENARIO: Final = """
scenario: examples
rules:
  - {match: {work: pose.update}, then: {fail: processing_failed}}
  - {match: {work: upscale}, then: {fail: timed_out}}
  - match:
      operation: createProductPhotographyGeneration
      body: {output_mode: single_shots}
    then: {problem: internal_error}
  - {match: {work: product_photography}, then: {outputs: {2: content_rejected}}}
"""


class Story:
    """Collects the examples while it happens, by their names."""

    def __init__(self, emulator: EmulatorUnderTest) -> None:
        self.emulator = emulator
        self.examples: dict[str, Json] = {}

    def tell(self) -> dict[str, Json]:
        team = self.emulator.get("/team")
        self.show("team", "A Team with a full API Credential", team)
        self._library()
        self._ingredients()
        self._generations()
        self._problems()
        return self.examples

    def show(
        self,
        name: str,
        summary: str,
        shown: Json | Answer,
    ) -> Json:
        """Keep a body, or that of an answer, as an example; return it."""
        body = shown
        if isinstance(body, Answer):
            body = body.json
        usual: Json = _with_usual_size(body)
        self.examples[name] = {"summary": summary, "value": usual}
        return usual

    def _library(self) -> None:
        self._upload()
        self._products()

    def _upload(self) -> None:
        photo = picture("image/jpeg", (3000, 2000))
        opening = {"content_type": "image/jpeg", "size_bytes": len(photo)}
        self.show("createUpload", "A photo", opening)
        opened = self.emulator.post("/uploads", opening)
        session = self.show("uploadSession", "A new session", opened)

        token = self.emulator.send_bytes(session, photo)
        summary = "The token that the direct upload answered with"
        completion = self.show("completeUpload", summary, token)
        completed = self.emulator.post(
            f"/uploads/{session['id']}/complete",
            completion,
        )
        asset = self.show("uploadedAsset", "An Asset from a file", completed)
        self.assets = [asset["id"], *self.emulator.assets(6)]

    def _products(self) -> None:
        emulator = self.emulator
        first, second, third, *_ = self.assets
        photos = {"asset_ids": [first, second], "primary_asset_id": first}
        all_fields = {
            "name": "Linen shirt",
            "description": "Summer shirt, relaxed fit",
            "dimensions": "S to XL",
            **photos,
        }
        least_fields = {
            "name": "Linen shirt",
            "asset_ids": [first],
            "primary_asset_id": first,
        }
        other_name = {"name": "Linen shirt, white"}
        other_photos = {"asset_ids": [second, third], "primary_asset_id": third}

        self.show("createProduct", "All fields", all_fields)
        product = emulator.post("/products", all_fields)
        path = f"/products/{product.id}"
        self.show("createProductWithLeastFields", "Only what is needed", least_fields)
        emulator.post("/products", least_fields)
        self.show("renameProduct", "Another name", other_name)
        emulator.patch(path, other_name)
        self.show("product", "A Product", emulator.get(path))
        self.show("replaceProductPhotos", "Another set of photos", other_photos)
        emulator.patch(path, other_photos)
        first_page = emulator.get("/products?limit=1")
        self.show("productList", "The first of several pages", first_page)

        emulator.patch(path, photos)
        self.product = product.id

    def _ingredients(self) -> None:
        self.made: dict[str, str] = {}
        assets = self.assets
        style = {
            "name": "Soft morning",
            "description": "Low sun, long shadows",
            "asset_ids": assets[:3],
        }
        pose = {
            "name": "Hands in pockets",
            "asset_id": assets[4],
            "supported_camera_distances": ["medium", "far"],
        }
        model = {
            "name": "Ada",
            "age_range": "25-35",
            "gender": "female",
            "asset_ids": assets[5:7],
        }
        background = {"name": "Old pier", "kind": "location", "asset_id": assets[3]}
        self._ingredient(
            "PhotographyStyle",
            "/photography-styles",
            style,
            {"asset_ids": assets[1:4]},
        )
        self._ingredient(
            "Background",
            "/backgrounds",
            background,
            {"asset_id": assets[4]},
        )
        self._ingredient(
            "Pose",
            "/poses",
            pose,
            {"asset_id": assets[5], "name": "Arms crossed"},
        )
        self._ingredient(
            "FashionModel",
            "/fashion-models",
            model,
            {"asset_ids": assets[4:5]},
        )
        path = "/operations?type=photography_style.create"
        self.show("operationList", "The last page", self.emulator.get(path))

    def _ingredient(
        self,
        kind: str,
        path: str,
        order: Json,
        source: Json,
    ) -> None:
        name = kind[0].lower() + kind[1:]
        words = re.sub("(?<!^)(?=[A-Z])", " ", kind)
        self.show(f"create{kind}", f"A {words} to be made", order)
        queued = self.emulator.post(path, order)
        completed = self.emulator.wait_for(queued.json)
        if kind == "PhotographyStyle":
            self.show("operationQueued", "Just admitted", queued)
            self.show("operationCompleted", "Done", completed)
        ingredient_id = completed["result"]["id"]
        ingredient_path = f"{path}/{ingredient_id}"
        self.made[name] = ingredient_id
        ingredient = self.emulator.get(ingredient_path)
        self.show(name, f"A {words} of the Team", ingredient)
        last_page = self.emulator.get(f"{path}?scope=team")
        self.show(f"{name}List", "The last page", last_page)

        self.show(f"replace{kind}Source", "Made again, by an Operation", source)
        queued = self.emulator.patch(ingredient_path, source)
        self.show(f"{name}UpdateQueued", f"A {words} to be made again", queued)
        if kind == "Pose":
            refusal = self.emulator.patch(ingredient_path, {"name": order["name"]})
            self.show(refusal.code, refusal.json["title"], refusal)
            failed = self.emulator.wait_for(queued.json)
            self.show("operationFailed", "Failed, the Pose stays as it was", failed)
        self.emulator.wait_for(queued.json)
        other_name = {"name": f"{order['name']}, second version"}
        self.show(f"rename{kind}", "Another name, at once", other_name)
        self.emulator.patch(ingredient_path, other_name)

    def _generations(self) -> None:
        self._photography()
        self._edit()
        self._upscale()
        last_page = self.emulator.get("/generations?workflow=edit_images")
        self.show("generationList", "The last page", last_page)

    def _photography(self) -> None:
        emulator = self.emulator
        path = "/generations/product-photography"
        model = emulator.premade("fashion_model")["id"]
        shots = {
            "product_ids": [self.product],
            "asset_ids": [self.assets[3]],
            "photography_style_id": self.made["photographyStyle"],
            "background": {
                "type": "background",
                "background_id": self.made["background"],
            },
            "fashion_model": {
                "type": "selected",
                "fashion_model_id": self.made["fashionModel"],
            },
            "colorway": {"name": "Moss", "hex": "#5a6b3c"},
            "pose_id": self.made["pose"],
            "camera_distance": "medium",
            "custom_directions": "Looking out to sea",
            "output_mode": "single_shots",
            "image_count": 2,
            "aspect_ratio": "4:5",
            "resolution": "2k",
            "output_format": "webp",
        }
        self.show("singleShots", "Two single shots with chosen ingredients", shots)
        refusal = emulator.post(path, shots)
        self.show(refusal.code, refusal.json["title"], refusal)

        photoshoot = {
            "product_ids": [self.product],
            "background": {"type": "color", "color": "#f4f1ea"},
            "fashion_model": {
                "type": "group",
                "fashion_model_ids": [self.made["fashionModel"], model],
            },
            "output_mode": "photoshoot",
        }
        self.show("photoshoot", "A photoshoot with two people", photoshoot)
        queued = emulator.post(path, photoshoot)
        self.show("photoshootQueued", "A photoshoot, just admitted", queued)
        emulator.advance(8)
        processing = emulator.get(f"/generations/{queued.id}")
        summary = "A photoshoot under way; one slot failed"
        self.show("photoshootProcessing", summary, processing)

        least_fields = {"asset_ids": [self.assets[0]], "output_mode": "single_shots"}
        name = "productPhotographyWithLeastFields"
        self.show(name, "Only what is needed", least_fields)

    def _edit(self) -> None:
        emulator = self.emulator
        edit = {
            "asset_ids": self.assets[:2],
            "instructions": (
                "Put the shirt of the first picture on the chair of the second."
            ),
            "aspect_ratio": "1:1",
            "resolution": "1k",
            "output_format": "png",
        }
        self.show("editImages", "Two Assets, one result", edit)
        queued = emulator.post("/generations/edit-images", edit)
        self.show("editImagesQueued", "An edit, just admitted", queued)
        completed = emulator.wait_for(queued.json)
        self.show("editImagesCompleted", "An edit, done", completed)
        (output,) = completed["outputs"]
        asset = emulator.get(f"/assets/{output['asset']['id']}")
        self.show("generatedAsset", "An Asset from a Generation", asset)
        first_page = emulator.get("/assets?limit=2")
        self.show("assetList", "The first of several pages", first_page)

    def _upscale(self) -> None:
        upscale = {
            "asset_id": self.assets[0],
            "target_resolution": "4k",
            "output_format": "jpeg",
        }
        self.show("upscale", "To 4k", upscale)
        queued = self.emulator.post("/generations/upscale", upscale)
        self.show("upscaleQueued", "An upscale, just admitted", queued)
        failed = self.emulator.wait_for(queued.json)
        self.show("upscaleFailed", "An upscale that failed and cost nothing", failed)

    def _problems(self) -> None:
        deleted = self.emulator.delete(f"/assets/{self.assets[0]}")
        summary = "One Product got another primary photo, another was deleted"
        self.show("assetDeletion", summary, deleted)
        missing_codes = [code for code in CAUSES if code not in self.examples]
        for code in missing_codes:
            self.emulator.told("POST", "/reset")
            self.emulator.without_scenario()
            self.emulator.sandbox.rate_limits = True
            refusal = CAUSES[code](self.emulator)
            self.show(code, refusal.json["title"], refusal)


def _with_usual_size(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_usual_size(item) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {name: _with_usual_size(item) for name, item in value.items()}
    if value.get("source") == "generation":
        fields["size_bytes"] = DRAWN_BYTES
    return fields


class _Dumper(yaml.SafeDumper):
    """Writes as the contract is written: lists indented, nothing by reference."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: object) -> bool:
        return True


def told_examples() -> dict[str, Json]:
    """Let the story happen in an emulator at the default address."""
    with tempfile.TemporaryDirectory() as folder:
        settings = settings_of(
            Path(folder),
            scenario=SCENARIO,
            public_url="http://127.0.0.1:8038",
            rate_limits=False,
        )
        with closing(EmulatorUnderTest(settings)) as emulator:
            examples = Story(emulator).tell()
    bodies = [name for name in examples if name not in CATALOGUE]
    problems = [code for code in CATALOGUE if code in examples]
    return {name: examples[name] for name in (*bodies, *problems)}


def write_examples() -> None:
    text = CONTRACT.read_text(encoding="utf-8")
    before, heading, after = text.partition(HEADING)
    document = {"examples": told_examples()}
    dumped = yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        width=1000,
        allow_unicode=True,
    )
    indented = "".join(f"  {line}\n" for line in dumped.splitlines())
    rest_of_heading, _, _ = after.partition("\n")
    text = f"{before}{heading}{rest_of_heading}\n{indented}"
    CONTRACT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_examples()
