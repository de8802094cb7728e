"""The published JSON Schema: it accepts what the loader accepts, and refuses what the loader refuses for its shape."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from emulator.documents.complaints import DocumentError
from emulator.documents.yaml_nodes import json_value, read_document
from emulator.domain.problems import CATALOGUE
from emulator.domain.resources import OPERATION_TYPES, WORKFLOWS
from emulator.scenario.faults.registry import THEN_WORDS
from emulator.scenario.format import SCENARIO_KEYS, ScenarioError, parse_scenario
from emulator.scenario.outcomes import FAILURE_CODES
from emulator.scenario.vocabulary import OperationFacts
from emulator.scenario.world_format import TEAM_KEYS

ROOT = Path(__file__).parents[2]
SCHEMA: dict[str, Any] = json.loads((ROOT / "contract" / "scenario.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


def schema_accepts(text: str) -> bool:
    try:
        data = json_value(read_document(text, "s.yaml"))
    except DocumentError:
        return False
    return VALIDATOR.is_valid(data)


def loader_accepts(text: str, operations: OperationFacts) -> bool:
    try:
        parse_scenario(text, "s.yaml", operations)
    except ScenarioError:
        return False
    return True


def test_the_schema_is_one() -> None:
    assert meta.is_valid(SCHEMA)


def test_the_schema_knows_the_words_of_the_contract(operations: OperationFacts) -> None:
    definitions = SCHEMA["$defs"]
    assert definitions["operation"]["enum"] == list(operations)
    assert definitions["code"]["enum"] == list(CATALOGUE)
    assert definitions["work"]["enum"] == [*WORKFLOWS, *OPERATION_TYPES]
    assert definitions["failure"]["enum"] == list(FAILURE_CODES)


def test_the_schema_knows_the_keys_of_the_loader() -> None:
    assert list(SCHEMA["properties"]) == list(SCENARIO_KEYS)
    assert set(SCHEMA["$defs"]["then"]["properties"]) == set(THEN_WORDS)
    teams = SCHEMA["$defs"]["world"]["properties"]["teams"]
    assert list(teams["additionalProperties"]["properties"]) == list(TEAM_KEYS)


def described_keys(schema: Any, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every key that a file may have, and whether it is described, itself or where it refers to."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from described_keys(item, f"{path}[{index}]")
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield from described_keys(value, f"{path}.{key}")
        if schema.get("additionalProperties") is False:
            for key, value in schema.get("properties", {}).items():
                target = SCHEMA["$defs"][value["$ref"].rpartition("/")[2]] if "$ref" in value else value
                yield f"{path}.{key}", "description" in value or "description" in target


def test_every_key_is_described_for_editors() -> None:
    assert [key for key, is_described in described_keys(SCHEMA) if not is_described] == []


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").iterdir()), ids=lambda file: file.stem)
def test_the_schema_accepts_the_library(file: Path) -> None:
    data = json_value(read_document(file.read_bytes(), file.name))
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


GOOD = [
    "{}",
    "description: text",
    "description: 7",
    "seed: 7",
    "seed: '7'",
    "clock: {mode: manual, start: 2026-01-01T00:00:00.000Z}",
    "clock: {mode: x60}",
    "clock: {mode: real, rate: 60}",
    "clock: {mode: real, rate: '2.5'}",
    "clock: {}",
    "world: {}",
    "world: {teams: {Demo: {credits: 5, subscription: inactive, concurrency_limit: 0, requests_per_minute: 1}}}",
    "world: {teams: {A: {credentials: [{key: a, name: n, profile: full, state: revoked, expires_at: 2026-01-01T00:00:00Z}]}}}",
    "world: {timings: {queue: 1s, photography_style: 1, background: 1.5, pose: 250ms, fashion_model: 2m, first_output: 1h, next_output: 0}}",
    "world: {premade: false}",
    "world: {premade: 'true'}",
    "rules: []",
    "rules: [{then: {hold: 1s}}]",
    "rules: [{name: 404, match: {}, when: {}, then: {hold: 10}}]",
    "rules: [{match: {operation: '*', team: Demo, body: {a: [1, {b: null}]}}, then: {problem: internal_error}}]",
    "rules: [{match: {operation: [getTeam, listPoses]}, then: {problem: rate_limited, retry_after: 3, detail: x}}]",
    "rules: [{match: {operation: createPose}, then: {problem: service_unavailable, at: after_commit}}]",
    "rules: [{then: {problem: rate_limited, at: before_commit}}]",
    *(f"rules: [{{then: {{network: {kind}}}}}]" for kind in ("reset", "truncate", "stall", "garbage")),
    "rules: [{then: {network: {latency: 250ms}, at: after_commit}}]",
    "rules: [{then: {deprecated: {}}}]",
    "rules: [{then: {deprecated: {sunset: 2027-06-30T00:00:00.000Z, link: 'https://a.example/b?c=d'}}}]",
    "rules: [{match: {work: product_photography}, then: {outputs: {2: content_rejected, 4: timed_out}, duration: 1s}}]",
    "rules: [{match: {work: [edit_images, upscale]}, then: {outputs: {1: timed_out}}}]",
    "rules: [{match: {work: '*', team: Demo}, then: {fail: timed_out, duration: 20s}}]",
    "rules: [{match: {work: [pose.create]}, then: {stall: true}}]",
    "rules: [{then: {stall: 'true'}}]",
    "rules: [{match: {team: Demo}, then: {duration: 20}}]",
    "rules: [{match: {work: background.update}, then: {scene: clean}}]",
    *(f"rules: [{{when: {{nth: {nth}}}, then: {{hold: 1}}}}]" for nth in ("3", "'3'", "2-4", "'>=3'", "'>= 3'", "every 5")),
    "rules: [{when: {from: 30s, until: 90s, probability: 0.25}, then: {hold: 1}}]",
    "rules: [{when: {probability: 0}, then: {hold: 1}}, {when: {probability: '1'}, then: {hold: 1}}]",
    "timeline: []",
    "timeline: [{at: 30s, set: {admission: paused, retry_after: 5}}, {at: 60, set: {admission: open}}]",
    "timeline: [{at: 0, set: {team: Demo, credits: 0, subscription: inactive, concurrency_limit: 1}}]",
    "timeline: [{at: 0, set: {credential: k, state: revoked, expires_at: 2026-01-01T00:00:00Z, profile: full}}]",
]  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_both_accept_a_good_file(text: str, operations: OperationFacts) -> None:
    text = "scenario: x\n" + ("" if text == "{}" else text)
    assert loader_accepts(text, operations)
    assert [error.message for error in VALIDATOR.iter_errors(json_value(read_document(text, "s.yaml")))] == []


BAD = [
    "scenario: x\nrulez: []",
    "scenario: ''",
    "scenario: null",
    "scenario: [x]",
    "scenario: \"a\\nb\"",
    "description: x",
    "[]",
    "text",
    *(
        f"scenario: x\n{text}"
        for text in (
            "seed: -1",
            "seed: 1.5",
            "seed: many",
            "clock: manual",
            "clock: {mode: fast}",
            "clock: {mode: auto, rate: 2}",
            "clock: {rate: 2}",
            "clock: {start: 2026-01-01}",
            "world: {team: {}}",
            "world: {teams: {A: {credits: -1}}}",
            "world: {teams: {A: {subscription: on}}}",
            "world: {teams: {A: {requests_per_minute: 0}}}",
            "world: {teams: {A: {credentials: []}}}",
            "world: {teams: {A: {credentials: [{name: x}]}}}",
            "world: {teams: {A: {credentials: [{key: a b}]}}}",
            "world: {teams: {A: {credentials: [{key: a, profile: writer}]}}}",
            "world: {timings: {upload: 1s}}",
            "world: {timings: {queue: fast}}",
            "world: {timings: {queue: -1}}",
            "world: {premade: yes}",
            "rules: {}",
            "rules: [x]",
            "rules: [{}]",
            "rules: [{then: }]",
            "rules: [{then: {}}]",
            "rules: [{then: {probelm: x}}]",
            "rules: [{then: {problem: nope}}]",
            "rules: [{then: {problem: internal_error, hold: 1s}}]",
            "rules: [{then: {problem: internal_error, stall: true}}]",
            "rules: [{then: {retry_after: 3}}]",
            "rules: [{then: {at: after_commit}}]",
            "rules: [{then: {problem: rate_limited, at: after_commit}}]",
            "rules: [{then: {problem: internal_error, retry_after: 3}}]",
            "rules: [{then: {problem: rate_limited, retry_after: 0}}]",
            "rules: [{then: {hold: 1s, at: after_commit}}]",
            "rules: [{then: {hold: soon}}]",
            "rules: [{then: {network: latency}}]",
            "rules: [{then: {network: {}}}]",
            "rules: [{then: {network: reset, detail: x}}]",
            "rules: [{then: {network: reset, retry_after: 3}}]",
            "rules: [{then: {deprecated: yes}}]",
            "rules: [{then: {deprecated: {link: 'javascript:x'}}}]",
            "rules: [{then: {deprecated: {}, at: before_commit}}]",
            "rules: [{match: {operation: getTeem}, then: {hold: 1s}}]",
            "rules: [{match: {operation: []}, then: {hold: 1s}}]",
            "rules: [{match: {operation: [getTeam, '*']}, then: {hold: 1s}}]",
            "rules: [{match: {body: x}, then: {hold: 1s}}]",
            "rules: [{match: {work: upscal}, then: {stall: true}}]",
            "rules: [{match: {work: upscale, operation: getTeam}, then: {stall: true}}]",
            "rules: [{match: {work: upscale, body: {}}, then: {stall: true}}]",
            "rules: [{match: {work: upscale}, then: {problem: internal_error}}]",
            "rules: [{match: {operation: getTeam}, then: {fail: timed_out}}]",
            "rules: [{match: {body: {}}, then: {fail: timed_out}}]",
            "rules: [{match: {work: upscale}, then: {fail: timeout}}]",
            "rules: [{match: {work: upscale}, then: {fail: timed_out, outputs: {1: timed_out}}}]",
            "rules: [{match: {work: upscale}, then: {stall: true, duration: 1s}}]",
            "rules: [{match: {work: upscale}, then: {stall: false}}]",
            "rules: [{match: {work: upscale}, then: {outputs: {2: timed_out}}}]",
            "rules: [{match: {work: product_photography}, then: {outputs: {7: timed_out}}}]",
            "rules: [{match: {work: product_photography}, then: {outputs: {}}}]",
            "rules: [{match: {work: pose.create}, then: {outputs: {1: timed_out}}}]",
            "rules: [{then: {outputs: {1: timed_out}}}]",
            "rules: [{match: {work: pose.create}, then: {scene: clean}}]",
            "rules: [{then: {scene: clean}}]",
            "rules: [{when: {nth: 0}, then: {hold: 1s}}]",
            "rules: [{when: {nth: every 0}, then: {hold: 1s}}]",
            "rules: [{when: {nth: third}, then: {hold: 1s}}]",
            "rules: [{when: {probability: 2}, then: {hold: 1s}}]",
            "rules: [{when: {probability: 25%}, then: {hold: 1s}}]",
            "timeline: [{at: 3s}]",
            "timeline: [{set: {admission: open}}]",
            "timeline: [{at: 3s, set: {}}]",
            "timeline: [{at: 3s, set: {admission: ajar}}]",
            "timeline: [{at: 3s, set: {admission: open, retry_after: 3}}]",
            "timeline: [{at: 3s, set: {admission: paused, credits: 3}}]",
            "timeline: [{at: 3s, set: {team: Demo}}]",
            "timeline: [{at: 3s, set: {credential: k}}]",
            "timeline: [{at: 3s, set: {credential: k, state: expired}}]",
            "timeline: [{at: 3s, set: {credential: k, expires_at: 1h}}]",
            "timeline: [{at: 3s, set: {credential: k, profile: writer}}]",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_both_refuse_a_bad_file(text: str, operations: OperationFacts) -> None:
    assert [loader_accepts(text, operations), schema_accepts(text)] == [False, False]


@pytest.mark.parametrize(
    "text",
    [
        "rules: [{match: {operation: getTeam}, then: {problem: insufficient_credits}}]",
        "rules: [{when: {nth: 4-2}, then: {hold: 1}}]",
        "rules: [{when: {from: 5s, until: 3s}, then: {hold: 1}}]",
        "rules: [{name: a, then: {hold: 1}}, {name: a, then: {hold: 1}}]",
        "clock: {start: 2026-13-01T00:00:00.000Z}",
    ],
)
def test_what_no_schema_can_say_the_loader_refuses(text: str, operations: OperationFacts) -> None:
    text = f"scenario: x\n{text}"
    assert [loader_accepts(text, operations), schema_accepts(text)] == [False, True]
