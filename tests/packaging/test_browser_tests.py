"""The Playwright recipe of docs/testing.md runs in the machine's browser against a small application."""

import shutil
import socket
from pathlib import Path

import pytest

from tests.clients.generated import need, run
from tests.packaging.pages import fences
from tests.support.served import EMULATOR, ROOT

SHOP = """\
const headers = { Authorization: `Bearer ${process.env.IMAGE_WORKFLOW_API_KEY}` };
require("node:http").createServer(async (request, response) => {
  const team = await (await fetch(`${process.env.IMAGE_WORKFLOW_BASE_URL}/team`, { headers })).json();
  response.end(`<p>${team.credits} Credits left</p>`);
}).listen(3000, "127.0.0.1");
"""
OWN_CONFIGURATION = """\
import shown from "./playwright.config.ts";
const launchOptions = { executablePath: "CHROMIUM", args: ["--no-sandbox", "--disable-gpu"] };
export default { ...shown, use: { ...shown.use, launchOptions } };
"""


def free_port() -> int:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return int(reserved.getsockname()[1])


@pytest.mark.verify
def test_the_recipe_for_playwright_runs(tmp_path: Path) -> None:
    need("npm", "chromium")
    port = str(free_port())
    shown = {
        text.split(maxsplit=2)[1]: text for _, text in fences(ROOT / "docs/testing.md", "ts") if text.startswith("// ")
    }
    own = {"shop.js": SHOP, "own.config.ts": OWN_CONFIGURATION.replace("CHROMIUM", str(shutil.which("chromium")))}
    for name, text in {**shown, **own}.items():
        (tmp_path / name).write_text(text.replace("3000", port))
    (tmp_path / "package.json").write_text("{}")
    run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "@playwright/test@1.65.1"], tmp_path)
    command = [*EMULATOR, "exec", "--clock", "auto", "--conduct", "fail", "--"]
    said = run([*command, "npx", "playwright", "test", "-c", "own.config.ts"], tmp_path, PYTHONPATH=str(ROOT))
    assert "1 passed" in said
