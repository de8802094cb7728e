"""Mistakes in scenario and world files: each is told with its place, what was found and what was expected."""

import contextlib
import time
from collections.abc import Iterator

import pytest
from msgspec import structs

from image_workflow_emulator.documents.complaints import DocumentError
from image_workflow_emulator.documents.document import document_of, read_document
from image_workflow_emulator.documents.schemas import MAX_COMPLAINTS
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.scenario.world import (
    World,
    WorldNames,
    built_in_world,
    world_names,
    world_of,
)
from tests.support.emulator_client import Json
from tests.support.every_operation import CONTRACT


def complaints_of(text: str, world: WorldNames | None = None) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        parse_scenario(text, "s.yaml", CONTRACT, world)
    return [
        complaint.removeprefix("s.yaml:")
        for complaint in str(caught.value).splitlines()
    ]


FAULTS = "problem, hold, network, deprecated, client"


def check(complaints: list[str], expected: str) -> None:
    """Hold one complaint against what is expected, where `<faults>` stands for those of `then`."""
    assert complaints == [expected.replace("<faults>", FAULTS)]


AT_THE_TOP: list[tuple[str, str]] = [
    ("text", '1:1: found "text"; expected an object'),
    ("{}", "1:1: /scenario: found nothing; expected this required field"),
    (
        'scenario: "a\\nb"',
        '1:11: /scenario: found "a\\nb"; expected a text of one line and 1 to 200 characters',
    ),
    (
        "scenario: x\nrulez: []",
        '2:1: /rulez: found an unknown field; expected only scenario, description, seed, readings, clock, world, rules, timeline; did you mean "rules"?',
    ),
    (
        "scenario: x\nclock: manual",
        '2:8: /clock: found "manual"; expected an object; did you mean "{mode: manual}"?',
    ),
    ("scenario: x\nclock: []", "2:8: /clock: found an array of 0; expected an object"),
    (
        "scenario: x\nclock: {mode: manuel}",
        '2:15: /clock/mode: found "manuel"; expected one of real, manual, auto, or a rate such as x60; did you mean "manual"?',
    ),
    (
        "scenario: x\nclock: {mode: auto, rate: 2}",
        '2:15: /clock/mode: found "auto"; expected real, the only mode that has a rate',
    ),
    (
        "scenario: x\nworld: {teams: {Demo: {credit: 1}}}",
        '2:24: /world/teams/Demo/credit: found an unknown field; expected only credits, subscription, concurrency_limit, requests_per_minute, credentials; did you mean "credits"?',
    ),
]


IN_A_RULE: list[tuple[str, str]] = [
    ("{}", "3:3: /rules/0/then: found nothing; expected this required field"),
    (
        "{then: {}}",
        "3:10: /rules/0/then: found an object; expected one of <faults>, outputs, fail, stall, duration, scene",
    ),
    (
        "{then: {problem: internal_eror}}",
        '3:20: /rules/0/then/problem: found "internal_eror"; expected an error code of the service; did you mean "internal_error"?',
    ),
    (
        "{match: {operation: createProduct}, then: {problem: insufficient_credits}}",
        '3:55: /rules/0/then/problem: found "insufficient_credits", which createProduct cannot return; expected a code that every operation of this rule can return: authentication_required, credential_expired, credential_revoked, idempotency_in_progress, idempotency_key_reused, internal_error, invalid_input, invalid_reference, permission_denied, rate_limited, service_unavailable, subscription_required',
    ),
    (
        "{then: {problem: service_unavailable}}",
        '3:20: /rules/0/then/problem: found "service_unavailable", which getTeam, listAssets, getAsset and 14 more cannot return; expected a code that every operation of this rule can return: authentication_required, credential_expired, credential_revoked, internal_error, rate_limited',
    ),
    (
        "{then: {problem: rate_limited, at: after_commit}}",
        '3:20: /rules/0/then/problem: found "rate_limited"; expected one of internal_error, service_unavailable, the problems that go with "at: after_commit"',
    ),
    (
        "{then: {problem: internal_error, retry_after: 3}}",
        '3:20: /rules/0/then/problem: found "internal_error"; expected one of concurrency_limit_reached, rate_limited, service_unavailable, the problems that have "retry_after"',
    ),
    (
        "{then: {problem: internal_error, hold: 1s}}",
        "3:36: /rules/0/then/hold: found an unknown field; expected only problem, retry_after, detail, at",
    ),
    (
        "{then: {problem: internal_error, stall: true}}",
        "3:10: /rules/0/then: found the fields problem, stall; expected words of one kind: for requests (<faults>) or for work (outputs, fail, stall, duration, scene)",
    ),
    (
        "{match: {work: upscale}, then: {fail: timed_out, duration: 1s, hold: 1s, network: reset}}",
        "3:34: /rules/0/then: found the fields duration, fail, hold, network; expected words of one kind: for requests (<faults>) or for work (outputs, fail, stall, duration, scene)",
    ),
    (
        "{match: {operation: getTeam}, then: {scene: clean, problem: internal_error}}",
        "3:39: /rules/0/then: found the fields problem, scene; expected words of one kind: for requests (<faults>) or for work (outputs, fail, stall, duration, scene)",
    ),
    (
        "{then: {hold: 1s, at: after_commit}}",
        "3:21: /rules/0/then/at: found an unknown field; expected only hold",
    ),
    (
        "{then: {network: rest}}",
        '3:20: /rules/0/then/network: found "rest"; expected one of reset, truncate, stall, garbage, corrupt, or an object such as {latency: 250ms} or {rate: 64KiB}; did you mean "reset"?',
    ),
    (
        "{then: {network: {}}}",
        "3:20: /rules/0/then/network: found no fields; expected one of reset, truncate, stall, garbage, corrupt, or an object such as {latency: 250ms} or {rate: 64KiB}",
    ),
    (
        "{then: {deprecated: {link: 'https://a b'}}}",
        '3:30: /rules/0/then/deprecated/link: found "https://a b"; expected an address such as https://docs.example/migration',
    ),
    (
        "{match: {operation: getTeem}, then: {hold: 1s}}",
        '3:23: /rules/0/match/operation: found "getTeem"; expected an operation id of the contract, a list of them, or "*"; did you mean "getTeam"?',
    ),
    (
        "{match: {operation: [getTeam, listPose]}, then: {hold: 1s}}",
        '3:33: /rules/0/match/operation/1: found "listPose"; expected an operation id of the contract; did you mean "listPoses"?',
    ),
    (
        "{match: {operation: []}, then: {hold: 1s}}",
        "3:23: /rules/0/match/operation: found an array of 0; expected at least 1 item",
    ),
    (
        "{match: {work: upscale, operation: getTeam}, then: {stall: true}}",
        "3:27: /rules/0/match/operation: found an unknown field; expected only work, team",
    ),
    (
        "{match: {work: upscale}, then: {problem: internal_error}}",
        '3:35: /rules/0/then/problem: found the name "problem"; expected one of outputs, fail, stall, duration, scene, as this rule is about work',
    ),
    (
        "{match: {operation: getTeam}, then: {fail: timed_out}}",
        '3:40: /rules/0/then/fail: found the name "fail"; expected one of <faults>, as this rule is about requests; for work, match "work"',
    ),
    (
        "{match: {work: upscale}, then: {fail: timed_out, outputs: {1: timed_out}}}",
        "3:35: /rules/0/then/fail: found an unknown field; expected only outputs, duration",
    ),
    (
        "{match: {work: upscale}, then: {outputs: {2: timed_out}}}",
        "3:45: /rules/0/then/outputs/2: found this field; expected slot 1, the only one of this work",
    ),
    (
        "{match: {work: product_photography}, then: {outputs: {}}}",
        "3:56: /rules/0/then/outputs: found no fields; expected slots from 1 to 6, such as {1: timed_out}",
    ),
    (
        "{match: {work: '*'}, then: {outputs: {1: timed_out}}}",
        '3:18: /rules/0/match/work: found "*"; expected one of product_photography, edit_images, upscale, the work that has "outputs"',
    ),
    (
        "{match: {work: pose.create}, then: {scene: clean}}",
        '3:18: /rules/0/match/work: found "pose.create"; expected one of background.create, background.update, the work that has a "scene"',
    ),
    (
        "{when: {every: 1m}, then: {hold: 1s}}",
        "3:10: /rules/0/when/for: found nothing; expected this required field",
    ),
    (
        "{when: {every: 1m, for: 2m}, then: {hold: 1s}}",
        '3:27: /rules/0/when/for: found "2m"; expected a span above 0 and up to "every", which is 60000 ms',
    ),
    (
        "{when: {every: 1m, for: 0s}, then: {hold: 1s}}",
        '3:27: /rules/0/when/for: found "0s"; expected a span above 0 and up to "every", which is 60000 ms',
    ),
    (
        "{name: a, then: {hold: 1s}}\n- {name: a, then: {hold: 1s}}",
        '4:3: /rules/1: found the name "a" again, first given to /rules/0; expected a name of its own for each rule',
    ),
    (
        "{when: {probability: 110%}, then: {hold: 1s}}",
        '3:24: /rules/0/when/probability: found "110%"; expected a number from 0 to 1, or a percentage such as 10%',
    ),
    (
        "{times: [2], then: {hold: 1s}}",
        "3:4: /rules/0/times: found an unknown field; expected only name, match, when, then",
    ),
    (
        "{name: slow, then: {hold: x}}",
        '3:29: /rules/0/then/hold: found "x"; expected a duration such as 250ms, 90s, 2m or 1h, at most 3650d',
    ),
    (
        "{when: {from: 5s, until: 5s}, then: {hold: 1s}}",
        '3:28: /rules/0/when/until: found "5s"; expected a time after "from", which is 5000 ms',
    ),
    (
        "{match: {bytes: download}, then: {problem: not_found}}",
        '3:46: /rules/0/then/problem: found "not_found"; expected one of internal_error, service_unavailable, the problems of byte surfaces',
    ),
    (
        "{match: {bytes: download}, then: {hold: 5s}}",
        '3:37: /rules/0/then/hold: found the name "hold"; expected one of problem, network, as this rule is about bytes',
    ),
    (
        "{then: {network: {latency: fast}}}",
        '3:30: /rules/0/then/network/latency: found "fast"; expected a duration such as 250ms, or a range such as 100ms-2s',
    ),
    (
        "{then: {network: {rate: 10kbps}}}",
        '3:27: /rules/0/then/network/rate: found "10kbps"; expected bytes a second, such as 64KiB',
    ),
    (
        "{then: {network: {reset: true, stall: true}}}",
        "3:34: /rules/0/then/network/stall: found an unknown field; expected only reset, latency, rate",
    ),
    (
        "{match: {operation: getProduct, body: {name: x}}, then: {hold: 1s}}",
        "3:35: /rules/0/match/body: found this field; expected an operation that has a body",
    ),
    (
        "{match: {operation: createProduct, query: {limit: 1}}, then: {hold: 1s}}",
        "3:38: /rules/0/match/query: found this field; expected an operation that has query parameters",
    ),
    (
        "{match: {operation: getTeam, resource: first}, then: {hold: 1s}}",
        "3:32: /rules/0/match/resource: found this field; expected an operation that has a resource in its path",
    ),
    (
        "{match: {resource: eleventh}, then: {hold: 1s}}",
        '3:22: /rules/0/match/resource: found "eleventh"; expected an id, or first, second, third, 4th and so on',
    ),
    (
        "{match: {work: upscale}, when: {per: credential}, then: {stall: true}}",
        '3:40: /rules/0/when/per: found "credential"; expected team, the only one that work has',
    ),
    (
        "{match: {body: {output_mod: photoshoot}}, then: {hold: 1s}}",
        "3:19: /rules/0/match/body/output_mod: found an unknown field; expected only content_type, size_bytes",
    ),
    (
        "{match: {body: {output_mode: photoshot}}, then: {hold: 1s}}",
        '3:32: /rules/0/match/body/output_mode: found "photoshot"; expected one of single_shots, photoshoot; did you mean "photoshoot"?',
    ),
    (
        "{match: {operation: listPoses, query: {limt: 1}}, then: {hold: 1s}}",
        '3:42: /rules/0/match/query/limt: found "limt"; expected one of after, limit, scope; did you mean "limit"?',
    ),
    (
        "{match: {operation: listPoses, query: {limit: 1000}}, then: {hold: 1s}}",
        "3:49: /rules/0/match/query/limit: found 1000; expected a whole number from 1 to 100",
    ),
    (
        "{match: {resource: first}, then: {stall: true}}",
        '3:37: /rules/0/then/stall: found the name "stall"; expected one of <faults>, as this rule is about requests; for work, match "work"; did you mean "network: {stall: true}"?',
    ),
]


IN_A_CHANGE: list[tuple[str, str]] = [
    ("{at: 3s}", "3:3: /timeline/0/set: found nothing; expected this required field"),
    (
        "{at: 3s, set: x}",
        '3:17: /timeline/0/set: found "x"; expected an object with one of admission, team, credential',
    ),
    (
        "{at: 3s, set: {admission: open, retry_after: 3}}",
        '3:29: /timeline/0/set/admission: found "open"; expected paused, as only a pause has "retry_after"',
    ),
    (
        "{at: 3s, set: {admission: paused, credits: 3}}",
        "3:37: /timeline/0/set/credits: found an unknown field; expected only admission, retry_after, for",
    ),
    (
        "{at: 3s, set: {admission: open, for: 3s}}",
        '3:29: /timeline/0/set/admission: found "open"; expected paused, as only a pause has "for"',
    ),
    (
        "{at: 3s, set: {team: Demo, credits: 1, for: 0s}}",
        '3:47: /timeline/0/set/for: found "0s"; expected a span above 0',
    ),
    (
        "{at: 3s, set: {team: Demo, for: 3s}}",
        '3:17: /timeline/0/set: found the fields for, team; expected what to set for this span, beside "for"',
    ),
    (
        "{at: 3s, for: 3s, set: {admission: paused}}",
        '3:12: /timeline/0/for: found an unknown field; expected only at, set, after; did you mean "set: {..., for: 3s}"?',
    ),
    (
        "{at: 3s, set: {team: Demo}}",
        "3:17: /timeline/0/set: found the fields team; expected what to set of the Team: at least one of credits, subscription, concurrency_limit, requests_per_minute",
    ),
    (
        "{at: 3s, set: {credential: k}}",
        "3:17: /timeline/0/set: found the fields credential; expected what to set of the credential: at least one of state, expires_at, profile",
    ),
    (
        "{after: {match: {work: upscale}}, set: {admission: open}}",
        "3:20: /timeline/0/after/match/work: found this field; expected requests: one of operation, bytes",
    ),
    (
        "{after: {match: {operation: getTeam, body: {a: 1}}}, set: {admission: open}}",
        "3:40: /timeline/0/after/match/body: found this field; expected an operation that has a body",
    ),
    (
        "{at: 1s, after: {match: {}}, set: {admission: open}}",
        '3:12: /timeline/0/after: found this field; expected either "at" or "after"',
    ),
    (
        "{set: {admission: open}}",
        '3:3: /timeline/0: found an object; expected a change with "at" or "after", and "set"',
    ),
]


OF_A_KNOWN_WORLD: list[tuple[str, str]] = [
    (
        "rules: [{match: {team: Demoo}, then: {hold: 1}}]",
        '2:24: /rules/0/match/team: found "Demoo"; expected one of Broke, Demo, Lapsed, Other; did you mean "Demo"?',
    ),
    (
        "timeline: [{at: 1, set: {team: Othr, credits: 1}}]",
        '2:32: /timeline/0/set/team: found "Othr"; expected one of Broke, Demo, Lapsed, Other; did you mean "Other"?',
    ),
    (
        "timeline: [{at: 1, set: {credential: iwe_demo_ful, state: revoked}}]",
        '2:38: /timeline/0/set/credential: found "iwe_demo_ful"; expected one of iwe_broke_full, iwe_demo_expired, iwe_demo_full, iwe_demo_read, iwe_demo_revoked, iwe_lapsed_full, iwe_other_full; did you mean "iwe_demo_full"?',
    ),
    (
        "world: {teams: {Acme: {credentials: [{key: iwe_demo_full}]}}}",
        '2:44: /world/teams/Acme/credentials/0/key: found "iwe_demo_full", a key of the Team "Demo"; expected a new key, or one of this Team',
    ),
    (
        "world: {teams: {Demoo: {credits: 1}}}",
        '2:17: /world/teams/Demoo: found "Demoo"; expected one of Broke, Demo, Lapsed, Other; did you mean "Demo"?',
    ),
]


IN_A_WORLD: list[tuple[str, str]] = [
    ("- a", "1:1: found an array of 1; expected an object"),
    (
        "team: {}",
        '1:1: /team: found an unknown field; expected only teams, timings, premade; did you mean "teams"?',
    ),
    (
        "teams: {A: {}}",
        '1:9: /teams/A: found "A"; expected one of Broke, Demo, Lapsed, Other',
    ),
    (
        "teams: {A: {credentials: [{key: k}]}, B: {credentials: [{key: k}]}}",
        '1:63: /teams/B/credentials/0/key: found "k", a key of the Team "A"; expected a new key, or one of this Team',
    ),
    (
        "teams: {A: {credentials: [{key: a b}]}}",
        '1:33: /teams/A/credentials/0/key: found "a b"; expected a key of letters, digits and . _ ~ + / -',
    ),
    (
        "teams: {A: {credentials: [{key: k}]}, 7: x}",
        '1:42: /teams/7: found "x"; expected an object',
    ),
    (
        'teams: {" ": {credentials: [{key: k}]}}',
        "1:9: /teams/ : found this field; expected a Team's name",
    ),
]


MISTAKES = {
    "{}": AT_THE_TOP,
    "scenario: x\nrules:\n- {}\n": IN_A_RULE,
    "scenario: x\ntimeline:\n- {}\n": IN_A_CHANGE,
}


def framed_mistakes() -> Iterator[tuple[str, str]]:
    """Iterate over the texts of files with one mistake, each with the complaint."""
    for frame, mistakes in MISTAKES.items():
        for text, expected in mistakes:
            yield frame.format(text), expected


@pytest.mark.parametrize(("text", "expected"), list(framed_mistakes()))
def test_a_mistake_in_a_scenario_is_told(text: str, expected: str) -> None:
    check(complaints_of(text), expected)


OF_OTHER_TEAMS: list[tuple[str, str]] = [
    (
        "rules: [{match: {team: Demo}, then: {hold: 1}}]",
        '2:24: /rules/0/match/team: found "Demo"; expected "Other"',
    ),
    (
        "timeline: [{at: 0s, set: {team: Demo, credits: 0}}]",
        '2:33: /timeline/0/set/team: found "Demo"; expected "Other"',
    ),
    (
        "timeline: [{at: 2s, set: {credential: iwe_demo_read, state: revoked}}]",
        '2:39: /timeline/0/set/credential: found "iwe_demo_read"; expected "iwe_other_full"',
    ),
    (
        "timeline: [{after: {match: {team: Demo}}, set: {admission: paused}}]",
        '2:35: /timeline/0/after/match/team: found "Demo"; expected "Other"',
    ),
    (
        "world: {teams: {Demo: {credits: 0}}}",
        '2:17: /world/teams/Demo: found "Demo"; expected "Other"',
    ),
    (
        "world: {teams: {Acme: {credentials: [{key: k}]}}}",
        '2:17: /world/teams/Acme: found "Acme"; expected "Other"',
    ),
]


@pytest.mark.parametrize(
    ("only", "text", "expected"),
    [
        *((None, *row) for row in OF_A_KNOWN_WORLD),
        *(("Other", *row) for row in OF_OTHER_TEAMS),
    ],
)
def test_a_scenario_names_what_its_world_or_its_team_has(
    only: str | None,
    text: str,
    expected: str,
) -> None:
    check(
        complaints_of(
            f"scenario: x\n{text}",
            structs.replace(world_names(built_in_world()), only=only),
        ),
        expected,
    )
    parse_scenario(
        f"scenario: x\n{text}",
        "s.yaml",
        CONTRACT,
    )  # nothing is known: nothing is wrong


@pytest.mark.parametrize(("text", "expected"), IN_A_WORLD)
def test_a_mistake_in_a_world_is_told(text: str, expected: str) -> None:
    with pytest.raises(DocumentError) as caught:
        world_of(read_document(text, "w.yaml"))
    check([str(caught.value).removeprefix("w.yaml:")], expected)


def test_data_without_positions_is_complained_of_by_its_place_in_the_body() -> None:
    world: Json = {"teams": {"A": {"credits": "x", "credentials": [{"key": "k"}]}}}
    document = document_of(world, "", "/world")

    with pytest.raises(DocumentError) as caught:
        world_of(document)

    (complaint,) = caught.value.complaints
    expected = '/world/teams/A/credits: found "x"; expected a whole number'
    assert complaint.words.startswith(expected)
    assert complaint.line == 0
    assert complaint.column == 0


@pytest.mark.parametrize("glob", ["k" * 256, "*k" * 11])
def test_a_glob_has_a_limit_of_characters_and_stars(glob: str) -> None:
    (complaint,) = complaints_of(
        f"scenario: x\nrules: [{{match: {{idempotency_key: '{glob}'}}, then: {{hold: 1}}}}]"
    )
    assert complaint.endswith(
        "expected a text of 1 to 255 characters, at most 10 of them *"
    )


@pytest.mark.parametrize(
    "place",
    [
        "{}",
        "rules: [{{then: {{{}}}}}]",
        "rules: [{{match: {{{}}}, then: {{hold: 1}}}}]",
        "rules: [{{match: {{work: upscale}}, then: {{outputs: {{{}}}}}}}]",
        "timeline: [{{at: 0, set: {{{}}}}}]",
    ],
)
def test_thousands_of_unknown_fields_are_told_in_linear_time(place: str) -> None:
    fields = ", ".join(f"k{number}: 1" for number in range(9000))
    began_at = time.process_time()
    complaints_of(f"{{scenario: x, {place.format(fields)}}}")
    assert time.process_time() - began_at < 5


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            """scenario: x
seed: many
rules:
  - match: {operation: getTeem}
    when: {nth: 0}
    then: {problem: nope}
timeline:
  - {at: never, set: {admission: ajar}}
clock: {mode: fast}
""",
            [2, 4, 5, 6, 8, 8, 9],
        ),
        (
            """scenario: x
readings: {D99: nope}
world: {teams: {Fresh: {credentials: [{key: fresh}]}, Bare: {credits: 1}}}
rules:
  - {name: a, match: {credential: fresh}, then: {hold: 1}}
  - name: a
    match: {credential: nope}
    when: {from: 2s, until: 1s}
    then: {problem: invalid_input}
timeline:
  - {at: 0s, set: {credential: nope, state: revoked}}
""",
            [2, 3, 6, 7, 8, 9, 11],
        ),
        (
            """scenario: x
rules:
  - match:
      operation: listPoses
      query:
        limt: 1
        limit: 1000
    then: {hold: 1}
""",
            [6, 7],
        ),
    ],
    ids=["of shape", "of meaning", "of a query"],
)
def test_all_mistakes_are_told_in_the_order_of_the_file(
    text: str,
    lines: list[int],
) -> None:
    complaints = complaints_of(text, world_names(built_in_world()))
    assert [int(complaint.split(":")[0]) for complaint in complaints] == lines


def test_a_file_of_many_mistakes_has_a_bounded_number_of_complaints() -> None:
    complaints = complaints_of("scenario: x\nrules:\n" + "- {}\n" * 500)
    assert len(complaints) == MAX_COMPLAINTS


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("clock: atuo", '"{mode: auto}"?'),
        (
            "rules: [{then: {problem: 429}}]",
            '"concurrency_limit_reached" or "rate_limited"?',
        ),
        ("rules: [{then: {status: 503}}]", '"problem: service_unavailable"?'),
        ("rules: [{then: {error: rate_limited}}]", '"problem: rate_limited"?'),
        ("rules: [{then: 503}]", '"{problem: service_unavailable}"?'),
        ("rules: [{then: {latency: 2s}}]", '"network: {latency: 2s}"?'),
        ("rules: [{then: {latency: XX}}]", '"network: {latency: XX}"?'),
        ("rules: [{then: {truncate: true}}]", '"network: {truncate: true}"?'),
        ("rules: [{times: 2, then: {hold: 1s}}]", '"when: {nth: 1-2}"?'),
    ],
)
def test_what_was_probably_meant_is_suggested(text: str, suggestion: str) -> None:
    (complaint,) = complaints_of(f"scenario: x\n{text}")
    assert complaint.endswith(f"; did you mean {suggestion}")


def test_a_rule_can_name_the_team_that_its_scenario_adds() -> None:
    text = """
scenario: x
world: {teams: {Acme: {credentials: [{key: acme}]}}}
rules:
  - match: {team: Acme, credential: acme}
    then: {hold: 1s}
"""

    scenario = parse_scenario(text, "s.yaml", CONTRACT, world_names(built_in_world()))

    (rule,) = scenario.rules
    assert rule.match.team == "Acme"


def test_in_an_empty_world_a_mistake_says_what_would_be_there() -> None:
    text = """scenario: x
world: {teams: {Demo: {credits: 1}}}
rules:
  - match: {credential: acme}
    then: {hold: 1s}
"""

    complaints = complaints_of(text, world_names(World()))

    assert complaints == [
        '2:17: /world/teams/Demo: found "Demo"; expected a Team, or credentials for a new one',
        '4:25: /rules/0/match/credential: found "acme"; expected a key of the world',
    ]


PLACES_OF_NUMBERS = (
    "seed: {}",
    "clock: {{mode: real, rate: {}}}",
    "clock: {{mode: x{}}}",
    "world: {{timings: {{queue: {}}}}}",
    "world: {{teams: {{Demo: {{credits: {}}}}}}}",
    "rules: [{{when: {{nth: {}}}, then: {{hold: 1}}}}]",
    "rules: [{{when: {{from: {}}}, then: {{hold: 1}}}}]",
    "rules: [{{when: {{every: 1d, for: {}}}, then: {{hold: 1}}}}]",
    "rules: [{{when: {{probability: {}}}, then: {{hold: 1}}}}]",
    "rules: [{{then: {{hold: {}}}}}]",
    "rules: [{{then: {{network: {{latency: {}}}}}}}]",
    "rules: [{{then: {{network: {{rate: {}}}}}}}]",
    "rules: [{{then: {{problem: rate_limited, retry_after: {}}}}}]",
    "timeline: [{{at: {}, set: {{admission: open}}}}]",
    "timeline: [{{after: {{match: {{}}, nth: {}}}, set: {{admission: open}}}}]",
)


@pytest.mark.parametrize("place", PLACES_OF_NUMBERS)
def test_a_number_beyond_all_bounds_or_spelled_otherwise_is_refused_everywhere(
    place: str,
) -> None:
    for number in (
        "1e400",
        "'1e400'",
        "1e308",
        "'1e308'",
        "9" * 400,
        "1_0",
        "'1_0'",
        "١",
        "nan",
        "-1",
    ):
        complaints_of(f"scenario: x\n{place.format(number)}")
    for number in ("1e0", "1.0", "1e-400", "1e-7"):  # as JSON may spell it
        with contextlib.suppress(DocumentError):
            parse_scenario(f"scenario: x\n{place.format(number)}", "s.yaml", CONTRACT)
