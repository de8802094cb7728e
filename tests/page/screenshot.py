"""Takes the pictures of the page for the documentation (`make screenshot`)."""

import sys
from pathlib import Path

from PIL import Image, ImageDraw

from tests.page.browser import Service, Visit, chromium, expect
from tests.support.emulator_client import LAPSED, UPLOAD
from tests.support.pictures import encode
from tests.support.served import serving

START = "2026-05-12T14:20:00.000Z"
SIZE = {"width": 1440, "height": 900}
OPTIONS = (
    "--clock",
    "manual",
    "--start",
    START,
    "--public-url",
    "http://127.0.0.1:8038",
)


def bottle() -> bytes:
    image = Image.new("RGBA", (600, 900))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((150, 260, 450, 880), 60, "#1f6f5c")
    draw.rounded_rectangle((240, 120, 360, 300), 20, "#1f6f5c")
    draw.rounded_rectangle((225, 30, 375, 150), 24, "#e8c468")
    draw.rounded_rectangle((190, 420, 410, 700), 18, "#f7efe0")
    draw.ellipse((250, 480, 350, 580), "#e07a5f")
    return encode(image, "image/png")


def play(service: Service) -> int:
    """Live through an afternoon, and return the number of the request to look at."""
    service.get("/team")
    service.get("/backgrounds?scope=global")
    shoot = service.photoshoot(bottle())
    service.advance(7.2)
    service.get(f"/generations/{shoot['id']}")
    service.advance(9.4)
    done = service.get(f"/generations/{shoot['id']}").json
    assets = [output["asset"]["id"] for output in done["outputs"]]
    product = {
        "name": "Linen shirt",
        "asset_ids": assets[:2],
        "primary_asset_id": assets[0],
    }
    made = service.post("/products", product, idempotency_key="linen-shirt")
    service.advance(0.8)
    service.post("/products", product, idempotency_key="linen-shirt")
    service.use_shipped("some-outputs-fail")
    service.advance(21.5)
    body = {
        "product_ids": [made.id],
        "output_mode": "photoshoot",
        "aspect_ratio": "4:5",
    }
    second = service.post("/generations/product-photography", body)
    service.advance(6.3)
    service.get(f"/generations/{second.id}")
    service.get(f"/assets/{assets[0]}")
    service.post(
        "/generations/upscale",
        {"asset_id": assets[0], "target_resolution": "4k"},
    )
    service.get("/products/prod_of_yesterday")
    service.advance(1.1)
    service.post("/uploads", UPLOAD, LAPSED)
    service.get("/poses", headers={"Emulator-Fault": "rate_limited"})
    service.set_credits(1)
    service.post("/generations/product-photography", body)
    refused = int(service.journal("?status=402")[0]["sequence"])
    service.get(f"/generations/{second.id}")
    return refused


def main(folder: Path) -> None:
    with serving(*OPTIONS) as emulator, chromium() as browser:
        refused = play(Service(emulator.base_url))
        context = browser.new_context(
            viewport=SIZE,
            color_scheme="light",
            reduced_motion="reduce",
        )
        visit = Visit(context.new_page(), emulator.url).open(
            f"/_emulator#requests/{refused}"
        )
        expect(visit.page.get_by_text("Remedy")).to_be_visible()
        expect(visit.region("Scenario").get_by_role("listitem")).to_contain_text(
            "fired 1"
        )
        visit.page.screenshot(path=folder / "page.png")
        pictures = visit.region("Work").get_by_role("img")
        for number in range(pictures.count()):
            pictures.nth(number).evaluate("image => image.decode()")
        visit.page.screenshot(path=folder / "page-work.png")
        context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
