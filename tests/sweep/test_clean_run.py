"""What a sweep's run without a fault shows."""

from msgspec import structs

from image_workflow_emulator.sweep.clean_run import findings_of, unread_pages
from tests.sweep.values import entry, finding, place, upload

LEAK = structs.replace(finding("credential-in-request"), message="createUpload sent it")
ABANDONED = upload(abandoned=True)


def test_misconduct_that_needs_no_fault_is_a_finding_once_with_its_tests() -> None:
    first = place([upload()])
    first.findings.append(LEAK)
    second = place([upload()])
    second.findings += [LEAK, LEAK]
    places = {"test_a": first, "test_b": second, "test_c": place([upload()])}

    (leak,) = findings_of(places, ignored_rules=[])

    assert "credential-in-request" == leak.rule
    assert "error" == leak.severity
    assert "the clean run of test_a, test_b" == leak.where
    assert "createUpload sent it" == leak.message


def test_misconduct_of_a_command_is_of_its_clean_run() -> None:
    whole = place([upload()])
    whole.findings.append(LEAK)

    (leak,) = findings_of({"": whole}, ignored_rules=[])

    assert "the clean run" == leak.where


def test_a_rule_that_is_ignored_is_no_finding_of_the_clean_run() -> None:
    whole = place([upload()])
    whole.findings.append(LEAK)

    findings = findings_of({"": whole}, ignored_rules=["credential-in-request"])

    assert [] == findings


def test_a_rule_that_is_not_one_of_conduct_is_none_of_the_clean_run() -> None:
    whole = place([upload()])
    whole.findings.append(finding("rule-never-fired"))

    findings = findings_of({"": whole}, ignored_rules=[])

    assert [] == findings


def test_a_write_whose_answer_the_client_did_not_await_is_noted() -> None:
    places = {"test_a": place([ABANDONED, upload()])}

    (unawaited,) = findings_of(places, ignored_rules=[])

    assert "note" == unawaited.severity
    assert "createUpload" in unawaited.message
    assert "test_a" == unawaited.where


def test_a_read_that_the_client_did_not_await_changes_nothing() -> None:
    places = {"test_a": place([entry("getTeam", abandoned=True)])}

    findings = findings_of(places, ignored_rules=[])

    assert [] == findings


def test_a_write_that_a_scenario_of_the_test_delays_may_be_given_up() -> None:
    delayed = upload(abandoned=True, rule={"name": "slow uploads"})
    places = {"test_a": place([delayed, upload()])}

    findings = findings_of(places, ignored_rules=[])

    assert [] == findings


# Pages ------------------------------------------------------------------------------

HAS_MORE = {
    "page": {
        "has_more": True,
        "next_cursor": "c",
    },
}


def test_a_list_whose_next_page_is_never_read_is_reported() -> None:
    journal = [entry("listPoses", response_body=HAS_MORE)]

    (unread,) = unread_pages([journal], "test_it")

    assert "listPoses" in unread.message
    assert "test_it" == unread.where


def test_a_list_that_is_read_on_is_not_reported() -> None:
    journal = [
        entry("listPoses", response_body=HAS_MORE),
        entry("listPoses", query="after=c", response_body=HAS_MORE),
    ]

    findings = list(unread_pages([journal], "test_it"))

    assert [] == findings
