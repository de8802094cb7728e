"""The first pictures of an emulator, before the first run of tests.

The processes that draw and decode pictures start with the first ones, which takes as
long as a client with a short time limit waits: the sweep would take that for a fault of
its own. Must not know what is run.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from image_workflow_emulator.client.control_client import ControlClient
from image_workflow_emulator.client.local_files import EmulatorError
from image_workflow_emulator.imaging.helpers import MAX_HELPERS
from image_workflow_emulator.testing.emulator import Emulator


def warm_up(emulator: Emulator, control_token: str | None) -> None:
    """Have as many pictures drawn at once as there are processes for them.

    Where the options of the emulator leave no way to do that, nothing happens.
    """
    with suppress(EmulatorError), emulator.sandbox(scenario=None) as sandbox:
        plane = ControlClient(emulator.url, control_token, sandbox.id)
        product = sandbox.given.product("Shirt", photos=MAX_HELPERS)

        def draw(asset_id: str) -> None:
            plane.exchange("GET", f"pictures/{asset_id}")

        with ThreadPoolExecutor(MAX_HELPERS) as pool:
            list(pool.map(draw, product["asset_ids"]))
