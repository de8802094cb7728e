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
from tests.support.emulator_client import Answer, EmulatorUnderTest, Json, settings_of
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
        self.show(
            "team",
            "A Team with a full API Credential",
            self.emulator.get("/team"),
        )
        self._library()
        self._ingredients()
        self._generations()
        self._problems()
        return self.examples

    def show(self, name: str, summary: str, value: Json | Answer) -> Json:
        body: Json = _with_usual_size(
            value.json if isinstance(value, Answer) else value
        )
        self.examples[name] = {"summary": summary, "value": body}
        return body

    def _library(self) -> None:
        emulator = self.emulator
        photo = picture("image/jpeg", (3000, 2000))
        body = self.show(
            "createUpload",
            "A photo",
            {"content_type": "image/jpeg", "size_bytes": len(photo)},
        )
        session = self.show(
            "uploadSession",
            "A new session",
            emulator.post("/uploads", body),
        )
        body = emulator.send_bytes(session, photo).json
        self.show(
            "completeUpload",
            "The token that the direct upload answered with",
            body,
        )
        completed = emulator.post(f"/uploads/{session['id']}/complete", body)
        self.assets = [
            self.show("uploadedAsset", "An Asset from a file", completed)["id"],
            *emulator.assets(6),
        ]

        first, second, third, *_ = self.assets
        texts = {
            "name": "Linen shirt",
            "description": "Summer shirt, relaxed fit",
            "dimensions": "S to XL",
        }
        body = {**texts, "asset_ids": [first, second], "primary_asset_id": first}
        self.show("createProduct", "All fields", body)
        product = emulator.post("/products", body)
        body = {"name": "Linen shirt", "asset_ids": [first], "primary_asset_id": first}
        emulator.post(
            "/products",
            self.show("createProductWithLeastFields", "Only what is needed", body),
        )
        path = f"/products/{product.id}"
        emulator.patch(
            path,
            self.show("renameProduct", "Another name", {"name": "Linen shirt, white"}),
        )
        self.show("product", "A Product", emulator.get(path))
        body = {"asset_ids": [second, third], "primary_asset_id": third}
        emulator.patch(
            path,
            self.show("replaceProductPhotos", "Another set of photos", body),
        )
        self.show(
            "productList",
            "The first of several pages",
            emulator.get("/products?limit=1"),
        )
        emulator.patch(path, {"asset_ids": [first, second], "primary_asset_id": first})
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

    def _ingredient(self, kind: str, path: str, order: Json, source: Json) -> None:
        name = kind[0].lower() + kind[1:]
        words = re.sub("(?<!^)(?=[A-Z])", " ", kind)
        queued = self.emulator.post(
            path,
            self.show(f"create{kind}", f"A {words} to be made", order),
        )
        completed = self.emulator.wait_for(queued.json)
        if kind == "PhotographyStyle":
            self.show("operationQueued", "Just admitted", queued)
            self.show("operationCompleted", "Done", completed)
        self.made[name] = made = completed["result"]["id"]
        self.show(name, f"A {words} of the Team", self.emulator.get(f"{path}/{made}"))
        self.show(
            f"{name}List",
            "The last page",
            self.emulator.get(f"{path}?scope=team"),
        )

        body = self.show(f"replace{kind}Source", "Made again, by an Operation", source)
        queued = self.emulator.patch(f"{path}/{made}", body)
        self.show(f"{name}UpdateQueued", f"A {words} to be made again", queued)
        if kind == "Pose":
            answer = self.emulator.patch(f"{path}/{made}", {"name": order["name"]})
            self.show(answer.code, answer.json["title"], answer)
            self.show(
                "operationFailed",
                "Failed, the Pose stays as it was",
                self.emulator.wait_for(queued.json),
            )
        self.emulator.wait_for(queued.json)
        body = self.show(
            f"rename{kind}",
            "Another name, at once",
            {"name": f"{order['name']}, second version"},
        )
        self.emulator.patch(f"{path}/{made}", body)

    def _generations(self) -> None:
        emulator = self.emulator
        assets = self.assets
        path, edit, upscale = GENERATIONS
        model = emulator.premade("fashion_model")["id"]
        shots = {
            "product_ids": [self.product],
            "asset_ids": [assets[3]],
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
        answer = emulator.post(
            path,
            self.show("singleShots", "Two single shots with chosen ingredients", shots),
        )
        self.show(answer.code, answer.json["title"], answer)
        group = {
            "type": "group",
            "fashion_model_ids": [self.made["fashionModel"], model],
        }
        color = {"type": "color", "color": "#f4f1ea"}
        body = {
            "product_ids": [self.product],
            "background": color,
            "fashion_model": group,
            "output_mode": "photoshoot",
        }
        generation = emulator.post(
            path,
            self.show("photoshoot", "A photoshoot with two people", body),
        )
        self.show("photoshootQueued", "A photoshoot, just admitted", generation)
        emulator.advance(8)
        generation = emulator.get(f"/generations/{generation.id}")
        self.show(
            "photoshootProcessing",
            "A photoshoot under way; one slot failed",
            generation,
        )
        body = {"asset_ids": [assets[0]], "output_mode": "single_shots"}
        self.show("productPhotographyWithLeastFields", "Only what is needed", body)

        words = "Put the shirt of the first picture on the chair of the second."
        form = {"aspect_ratio": "1:1", "resolution": "1k", "output_format": "png"}
        body = {"asset_ids": assets[:2], "instructions": words, **form}
        generation = emulator.post(
            edit,
            self.show("editImages", "Two Assets, one result", body),
        )
        self.show("editImagesQueued", "An edit, just admitted", generation)
        done = self.show(
            "editImagesCompleted",
            "An edit, done",
            emulator.wait_for(generation.json),
        )
        made = emulator.get(f"/assets/{done['outputs'][0]['asset']['id']}")
        self.show("generatedAsset", "An Asset from a Generation", made)
        self.show(
            "assetList",
            "The first of several pages",
            emulator.get("/assets?limit=2"),
        )

        body = {
            "asset_id": assets[0],
            "target_resolution": "4k",
            "output_format": "jpeg",
        }
        generation = emulator.post(upscale, self.show("upscale", "To 4k", body))
        self.show("upscaleQueued", "An upscale, just admitted", generation)
        self.show(
            "upscaleFailed",
            "An upscale that failed and cost nothing",
            emulator.wait_for(generation.json),
        )
        self.show(
            "generationList",
            "The last page",
            emulator.get("/generations?workflow=edit_images"),
        )

    def _problems(self) -> None:
        deleted = self.emulator.delete(f"/assets/{self.assets[0]}")
        self.show(
            "assetDeletion",
            "One Product got another primary photo, another was deleted",
            deleted,
        )
        for code in [code for code in CAUSES if code not in self.examples]:
            self.emulator.told("POST", "/reset")
            self.emulator.without_scenario()
            self.emulator.sandbox.rate_limits = True
            answer = CAUSES[code](self.emulator)
            self.show(code, answer.json["title"], answer)


def _with_usual_size(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_usual_size(item) for item in value]
    if not isinstance(value, dict):
        return value
    shown = {name: _with_usual_size(item) for name, item in value.items()}
    return (
        shown | {"size_bytes": DRAWN_BYTES}
        if value.get("source") == "generation"
        else shown
    )


GENERATIONS: Final = tuple(
    f"/generations/{name}" for name in ("product-photography", "edit-images", "upscale")
)


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
    problems = [code for code in CATALOGUE if code in examples]
    return {
        name: examples[name]
        for name in [*(name for name in examples if name not in CATALOGUE), *problems]
    }


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
    lines = "".join(f"  {line}\n" for line in dumped.splitlines())
    CONTRACT.write_text(
        f"{before}{heading}{after.partition(chr(10))[0]}\n{lines}",
        encoding="utf-8",
    )


if __name__ == "__main__":
    write_examples()
