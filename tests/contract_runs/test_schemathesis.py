"""The contract as its own test: answers to its requests are compared with it.

Examples come first, then every boundary of every schema, then random requests, each
sent to the same freshly seeded service. Schemathesis calls the application directly,
without a socket, in a process of its own: it keeps its hooks.
"""

import json
import sys
from pathlib import Path

import pytest

from tests.support.contract_check import shipped_checker
from tests.support.served import ROOT, run_program

TIME_LIMIT_SECONDS = 600
IN_PROCESS = "http://emulator.test/v1"
"""An address whose application the hooks call directly."""


@pytest.mark.parametrize("examples", [4, pytest.param(100, marks=pytest.mark.verify)])
def test_every_operation_keeps_to_the_contract_whatever_is_sent(
    tmp_path: Path,
    examples: int,
) -> None:
    statuses = run_schemathesis(tmp_path, examples)

    operations = shipped_checker().operations()
    assert statuses.keys() == {
        operation["operationId"] for _, _, operation in operations
    }
    for operation_id, seen in statuses.items():
        assert has_success(seen), f"{operation_id} never succeeded"
        assert "409" not in seen, operation_id
        assert "429" not in seen, operation_id


def has_success(statuses: dict[str, int]) -> bool:
    return any(status.startswith("2") for status in statuses)


def run_schemathesis(folder: Path, examples: int) -> dict[str, dict[str, int]]:
    """Run Schemathesis, which must succeed.

    Returns how often each operation answered with which status.
    """
    report = folder / "report.json"
    run = run_program(
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(ROOT / "tests/contract_runs/schemathesis.toml"),
        "run",
        str(ROOT / "contract/openapi.yaml"),
        "--url",
        IN_PROCESS,
        "--phases",
        "examples,coverage,fuzzing",
        "--max-examples",
        str(examples),
        folder=folder,
        seconds=TIME_LIMIT_SECONDS,
        SCHEMATHESIS_HOOKS="tests.contract_runs.schemathesis_hooks",
        PYTHONPATH=str(ROOT),
        PYTHONHASHSEED="0",
        CONTRACT_RUN_REPORT=str(report),
    )
    assert run.status == 0, run.output[-20_000:] + run.complaint[-5_000:]
    return dict(json.loads(report.read_text()))
