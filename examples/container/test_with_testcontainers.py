"""The emulator in a container of the test's own: pip install testcontainers httpx pytest.

The image is in no registry yet: build it first, in a clone, by `docker build -t image-workflow-emulator .`.
"""

from collections.abc import Iterator

import httpx
import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.waiting_utils import wait_for_logs


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    emulator = DockerContainer("image-workflow-emulator").with_env("EMULATOR_CLOCK", "auto").with_exposed_ports(8038)
    with emulator:
        wait_for_logs(emulator, "ready http")
        yield f"http://{emulator.get_container_host_ip()}:{emulator.get_exposed_port(8038)}/v1"


def test_the_team_has_credits(base_url: str) -> None:
    answer = httpx.get(f"{base_url}/team", headers={"Authorization": "Bearer iwe_demo_full"})
    assert answer.json()["credits"] == 100
