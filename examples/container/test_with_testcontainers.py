"""The emulator in a container of the test's own: pip install testcontainers httpx pytest.

The image is not published yet: build it first, in a clone, by `docker build -t image-workflow-emulator .`.
"""

from collections.abc import Iterator

import httpx
import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.waiting_utils import wait_for_logs


class ImageWorkflowContainer(DockerContainer):
    """The emulator in a container; options are those of `serve`, such as `clock="auto"`."""

    def __init__(self, image: str = "image-workflow-emulator", **options: str) -> None:
        super().__init__(image)
        self.api_key = "iwe_demo_full"
        self.with_exposed_ports(8038)
        for name, value in options.items():
            self.with_env(f"EMULATOR_{name.upper()}", value)

    def start(self) -> "ImageWorkflowContainer":
        super().start()
        wait_for_logs(self, "ready http")
        return self

    @property
    def url(self) -> str:
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(8038)}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"


@pytest.fixture(scope="session")
def emulator() -> Iterator[ImageWorkflowContainer]:
    with ImageWorkflowContainer(clock="auto") as started:
        yield started


def test_the_team_has_credits(emulator: ImageWorkflowContainer) -> None:
    answer = httpx.get(
        f"{emulator.base_url}/team",
        headers={"Authorization": f"Bearer {emulator.api_key}"},
    )
    assert answer.json()["credits"] == 100
