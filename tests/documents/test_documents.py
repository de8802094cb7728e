"""Documents: YAML read with positions, and the compiled form of those that are shipped."""

import json
import sys
from pathlib import Path

import pytest

from image_workflow_emulator.documents import shipped
from image_workflow_emulator.documents.complaints import DocumentError, Position
from image_workflow_emulator.documents.document import document_of, read_document
from image_workflow_emulator.documents.limits import MAX_BYTES, MAX_DEPTH
from image_workflow_emulator.documents.shipped import (
    COMPILED_DOCUMENTS,
    compile_documents,
    shipped_document,
)
from tests.support.emulator_under_test import EmulatorUnderTest
from tests.support.served import run_program


def test_every_value_is_known_as_text_and_by_its_place() -> None:
    document = read_document("a: 2026-01-01\nb:\n  - on\n  - '3'\n", "f")
    assert {"a": "2026-01-01", "b": ["on", "3"]} == document.data
    places = [
        document.position(*steps)
        for steps in ((), ("a",), ("b",), ("b", 0), ("b", 1), ("b", 2, "none"))
    ]
    assert [
        Position(1, 1),
        Position(1, 4),
        Position(3, 3),
        Position(3, 5),
        Position(4, 5),
        Position(3, 3),
    ] == places
    assert Position(2, 1) == document.position("b", at_key=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "{a: 1, b: '1', c: true, d: on, e: null, f: , g: ~}",
            {"a": 1, "b": "1", "c": True, "d": "on", "e": None, "f": None, "g": None},
        ),
        (
            "[1.50, -2, 1e3, 0123, .5, 0x10, 12:30:00]",
            [1.5, -2, 1000.0, "0123", ".5", "0x10", "12:30:00"],
        ),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ('{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
        ('{\n\t"a":\t"\\\\ud83d \\/",\n\t"b": 1}', {"a": "\\ud83d /", "b": 1}),
        ("\ufeffa: b", {"a": "b"}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("x" * 50, "x" * 50),
        ("1" * 50, "1" * 50),
    ],
)
def test_a_text_reads_as_the_json_it_looks_like(text: str, value: object) -> None:
    assert value == read_document(text, "f").data


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "f:1:1: found an empty document; expected an object"),
        ("# only a comment\n", "f:2:1: found an empty document; expected an object"),
        ("a:\n\tb: 1", "f:2:1: found a tab; expected spaces"),
        ("a: @b", "f:1:4: found text that is not YAML"),
        (
            "a: [1",
            "f:1:4: found text that is not YAML; expected YAML (while parsing a flow sequence did not find",
        ),
        (
            "a: {b: c\nd: e\n",
            "f:1:4: found text that is not YAML; expected YAML (while parsing a flow mapping did not",
        ),
        (
            "a: 'x\nb: 1\n",
            "f:1:4: found text that is not YAML; expected YAML (while scanning a quoted scalar found",
        ),
        ("a: {b: c d: e}", "f:1:11: found text that is not YAML"),
        ("a: b\n  c: d", "f:2:4: found text that is not YAML"),
        (
            "a: 1\n---\nb: 1",
            "f:2:1: found text that is not YAML; expected YAML (expected a single document",
        ),
        (
            "a: 1\nb: \x07",
            "f:2:4: found the control character U+0007; expected text without control characters",
        ),
        (b"a: \xff", "f:1:4: found a byte that is not UTF-8; expected UTF-8 text"),
        ("a: \ud800", "f:1:4: found a byte that is not UTF-8; expected UTF-8 text"),
        (
            '{"a": "\\ud83d\\ude00",\n "b": "x\\udC00"}',
            "f:2:11: found text that is not YAML; expected YAML (while parsing a quoted scalar",
        ),
        (
            '{"a": "\\\\ud800 \\ud83d\\ud83d\\ude00"}',
            "f:1:18: found text that is not YAML",
        ),
        ('{"\\ud800": 1}', "f:1:5: found text that is not YAML"),
        (
            'a: "\\ud800"',
            "f:1:7: found text that is not YAML; expected YAML (while parsing a quoted scalar",
        ),
        (
            "a: [{b: 1, b: 2}]",
            'f:1:12: found "b" a second time; expected each key once',
        ),
        (
            "a: *nope",
            "f:1:4: found text that is not YAML; expected YAML (found undefined alias",
        ),
        ("a: &a [*a]", "f:1:4: found arrays and objects nested too deeply"),
        (
            "? [a]\n: b",
            "f:1:3: found an array or an object as a key; expected a text as a key",
        ),
        ("%YAML 9.9\n---\na: 1", "f:1:1: found text that is not YAML"),
        (
            "[" * 3000,
            f"f:1:{MAX_DEPTH + 1}: found arrays and objects nested too deeply; expected at most 32 levels",
        ),
        (
            "{a: " * 3000,
            f"f:1:{MAX_DEPTH * 4 + 1}: found arrays and objects nested too deeply",
        ),
        (
            "x" * (MAX_BYTES + 1),
            f"f: found {MAX_BYTES + 1} bytes; expected at most {MAX_BYTES}",
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    text: str | bytes,
    complaint: str,
) -> None:
    with pytest.raises(DocumentError) as caught:
        read_document(text, "f")
    assert str(caught.value).startswith(complaint)


def test_neither_aliases_nor_data_have_more_values_or_depth_than_is_allowed() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]"
        for level in range(1, 12)
    ]
    with pytest.raises(
        DocumentError,
        match=r"^f:\d+:\d+: found more than 20000 values; expected a smaller document$",
    ):
        read_document("\n".join(lines), "f")
    lines = ["a0: &a0 [x]"] + [
        f"a{level}: &a{level} [*a{level - 1}]" for level in range(1, MAX_DEPTH + 1)
    ]
    with pytest.raises(DocumentError, match="nested too deeply"):
        read_document("\n".join(lines), "f")
    data = json.loads("[" * 40 + "]" * 40)
    with pytest.raises(
        DocumentError,
        match=r"^f: found arrays and objects nested too deeply",
    ):
        document_of(data, "f")


CONTRACT = "contract/openapi.yaml"


@pytest.fixture
def contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in place of the contract and of all other documents that are compiled."""
    monkeypatch.setattr(
        shipped,
        "shipped_path",
        lambda name: tmp_path / "contract.yaml",
    )
    monkeypatch.setattr(shipped, "_COMPILED", tmp_path / "compiled")
    return tmp_path / "contract.yaml"


def test_a_document_is_parsed_unless_it_is_compiled(
    contract: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contract.write_text("openapi: 3.1.0\nsince: 2026-01-01\nswitch: on\ncount: 3\n")
    content = {"openapi": "3.1.0", "since": "2026-01-01", "switch": "on", "count": 3}
    assert shipped_document(CONTRACT) == content
    compile_documents()
    with monkeypatch.context() as without_parser:
        without_parser.delattr(shipped, "_parse_yaml")
        assert shipped_document(CONTRACT) == content
    contract.write_text("openapi: 3.1.1\n")
    assert shipped_document(CONTRACT) == {"openapi": "3.1.1"}
    assert {*compile_documents()} == {*contract.with_name("compiled").iterdir()}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "a: 1\nb: [{c: 1, c: 2}]\n",
            'contract/openapi.yaml:2:12: found "c" a second time; expected each key once',
        ),
        ("a: [", "contract/openapi.yaml:2:1: found text that is not YAML"),
    ],
)
def test_a_document_that_is_not_well_formed_is_not_compiled(
    contract: Path,
    text: str,
    complaint: str,
) -> None:
    contract.write_text(text)
    for read in (compile_documents, lambda: shipped_document(CONTRACT)):
        with pytest.raises(DocumentError) as caught:
            read()
        assert str(caught.value).startswith(complaint)


def test_the_command_tells_what_it_has_compiled() -> None:
    files = run_program(
        sys.executable,
        "-m",
        "image_workflow_emulator.documents",
    ).output.split()
    compiled = [json.loads(Path(name).read_bytes()) for name in files]
    assert compiled == [shipped_document(name) for name in COMPILED_DOCUMENTS]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: !!str [1]", 'f:1:4: found the tag "!!str" on an array'),
        ("a: !!str {b: 1}", 'f:1:4: found the tag "!!str" on an object'),
        ("a: !!map [1]", 'f:1:4: found the tag "!!map" on an array'),
        ("a: !!map x", 'f:1:4: found the tag "!!map" on a text'),
        ("!!seq {a: 1}", 'f:1:1: found the tag "!!seq" on an object'),
        ("a: !!seq x", 'f:1:4: found the tag "!!seq" on a text'),
        ("a: !!int 3", 'f:1:4: found the tag "!!int"'),
        ("a: !!float 3", 'f:1:4: found the tag "!!float"'),
        ("a: !!null x", 'f:1:4: found the tag "!!null"'),
        ("a: !!binary AA==", 'f:1:4: found the tag "!!binary"'),
        ("a: !!set {b, c}", 'f:1:4: found the tag "!!set"'),
        ("a: !!omap [b: 1]", 'f:1:4: found the tag "!!omap"'),
        ("a: !own x", 'f:1:4: found the tag "!own"'),
        ("!!int 1: x", 'f:1:1: found the tag "!!int"'),
        ("a: [&b !!str {c: 1}, *b]", 'f:1:5: found the tag "!!str" on an object'),
        (
            "a: !!python/name:os.system x",
            'f:1:4: found the tag "!!python/name:os.system"',
        ),
        (
            "%TAG ! tag:yaml.org,2002:\n---\na: !str [1]",
            'f:3:4: found the tag "!!str" on an array',
        ),
        (
            "a: !<tag:example.com,2000:x> 1",
            'f:1:4: found the tag "tag:example.com,2000:x"',
        ),
    ],
)
def test_a_tag_that_does_not_fit_its_value_is_refused(
    text: str,
    complaint: str,
) -> None:
    with pytest.raises(DocumentError) as caught:
        read_document(text, "f")

    assert str(caught.value) == f"{complaint}; expected a value without a tag"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: !!str 3", {"a": "3"}),
        ("a: ! 3", {"a": "3"}),
        ("a: !!str", {"a": ""}),
        ("a: [&b !!str 3, *b]", {"a": ["3", "3"]}),
        ("!!str a: 3", {"a": 3}),
        ("!!map {a: !!seq [3]}", {"a": [3]}),
    ],
)
def test_a_tag_that_fits_its_value_is_obeyed(text: str, value: object) -> None:
    assert read_document(text, "f").data == value


def test_a_merge_key_is_refused() -> None:
    with pytest.raises(DocumentError) as caught:
        read_document("a: &a {b: 1}\nc:\n  <<: *a\n", "f")

    assert str(caught.value) == (
        'f:3:3: found the merge key "<<"; '
        "expected the fields themselves, or an alias for a whole value"
    )


def test_a_quoted_merge_key_is_a_name_as_any_other() -> None:
    assert read_document('"<<": 1', "f").data == {"<<": 1}


@pytest.mark.parametrize(
    "text",
    ["!!str [1]", "!!map [1]", "!!seq {a: 1}", "{a: !!str [1]}"],
)
def test_a_scenario_with_a_tag_that_does_not_fit_is_refused_with_its_place(
    emulator: EmulatorUnderTest,
    text: str,
) -> None:
    scenario = f"scenario: x\ndescription: {text}\n"

    answer = emulator.ask("PUT", "/scenario?file=s.yaml", content=scenario.encode())

    assert answer.code == "invalid_scenario"
    assert answer.json["detail"].startswith("s.yaml:2:")


def test_what_is_given_with_a_tag_that_does_not_fit_is_refused_with_its_place(
    emulator: EmulatorUnderTest,
) -> None:
    text = b"given:\n- product: {name: !!str [1]}\n"

    answer = emulator.ask("POST", "/given?file=g.yaml", content=text)

    assert answer.code == "invalid_request"
    assert answer.json["detail"].startswith("g.yaml:2:19: ")


DOCUMENT_BODIES = [
    ("PUT", "/scenario", b'{"scenario": "x"}'),
    ("POST", "/scenario/check", b'{"scenario": "x"}'),
    ("POST", "/given", b'{"given": [{"product": {"name": "Shirt"}}]}'),
]


@pytest.mark.parametrize(("method", "path", "content"), DOCUMENT_BODIES)
@pytest.mark.parametrize(
    "media_type",
    ["application/json", "application/yaml", "Application/YAML; charset=utf-8"],
)
def test_a_document_has_a_media_type_of_the_contract(
    emulator: EmulatorUnderTest,
    method: str,
    path: str,
    content: bytes,
    media_type: str,
) -> None:
    headers = {"Content-Type": media_type}

    emulator.told(method, path, content=content, headers=headers)


@pytest.mark.parametrize(("method", "path", "content"), DOCUMENT_BODIES)
@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", ""],
)
def test_a_document_of_another_media_type_is_refused(
    emulator: EmulatorUnderTest,
    method: str,
    path: str,
    content: bytes,
    media_type: str,
) -> None:
    headers = {"Content-Type": media_type}

    answer = emulator.ask(method, path, content=content, headers=headers)

    assert answer.code == "invalid_request"
    assert answer.json["detail"] == (
        f'Content-Type: found "{media_type}"; '
        "expected application/json or application/yaml"
    )


@pytest.mark.parametrize(("method", "path", "content"), DOCUMENT_BODIES)
def test_a_document_needs_no_media_type(
    emulator: EmulatorUnderTest,
    method: str,
    path: str,
    content: bytes,
) -> None:
    emulator.told(method, path, content=content)
