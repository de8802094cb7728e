"""The contract as its own test: requests made from its schemas, answers held against it, for all operations.

Breadth first: examples, every boundary of every schema, and random requests, each sent to the same freshly seeded
service. The application is called directly, without a socket, by Schemathesis in a process of its own: it keeps its
hooks.
"""

import json
import sys
from pathlib import Path

import pytest

from tests.support.contract_check import shipped_checker
from tests.support.served import ROOT, run_program

TIME_LIMIT_SECONDS = 600


@pytest.mark.parametrize("examples", [4, pytest.param(100, marks=pytest.mark.verify)])
def test_every_operation_keeps_to_the_contract_whatever_is_sent(
    tmp_path: Path, examples: int
) -> None:
    configuration, contract = (
        ROOT / "tests/contract_runs/schemathesis.toml",
        ROOT / "contract/openapi.yaml",
    )
    command = (
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(configuration),
        "run",
        str(contract),
    )
    options = ("--phases", "examples,coverage,fuzzing", "--max-examples", str(examples))
    variables = {
        "SCHEMATHESIS_HOOKS": "tests.contract_runs.schemathesis_hooks",
        "PYTHONPATH": str(ROOT),
    }
    variables |= {
        "PYTHONHASHSEED": "0",
        "CONTRACT_RUN_REPORT": str(tmp_path / "report.json"),
    }
    in_process = (
        "--url",
        "http://emulator.test/v1",
    )  # whose application the hooks call directly
    run = run_program(
        *command,
        *in_process,
        *options,
        folder=tmp_path,
        seconds=TIME_LIMIT_SECONDS,
        **variables,
    )
    assert run.status == 0, run.output[-20_000:] + run.complaint[-5_000:]
    statuses: dict[str, dict[str, int]] = json.loads(
        (tmp_path / "report.json").read_text()
    )
    assert statuses.keys() == {
        operation["operationId"] for _, _, operation in shipped_checker().operations()
    }
    assert [] == [
        operation
        for operation, seen in statuses.items()
        if not any(code.startswith("2") for code in seen)
    ]
    assert {"409", "429"}.isdisjoint(
        {code for seen in statuses.values() for code in seen}
    )
