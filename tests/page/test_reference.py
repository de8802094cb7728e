"""The reference: Swagger UI over the contract, filled with what the sandbox has."""

import re
from typing import Any

import pytest

from tests.page.browser import (
    PHONE,
    Service,
    Visit,
    button,
    enter,
    expect,
    field,
    heading,
    link,
)

pytestmark = pytest.mark.verify
TOKEN = "control-secret"
PATIENCE_MS = 90_000
"""Swagger UI has much to do before it shows anything, on a busy machine for long."""


@pytest.fixture
def reference(visitor: Any) -> Any:
    """Open the reference where an operation is."""

    def open_at(
        tag: str,
        name: str,
        **options: Any,
    ) -> tuple[Visit, Any]:
        place = tag.replace(" ", "%20")
        visit = visitor(f"/_emulator/reference#/{place}/{name}", **options)
        return visit, visit.operation(tag, name)

    return open_at


def execute(operation: Any) -> None:
    button(operation, "Execute").click(timeout=PATIENCE_MS)


def test_an_address_leads_to_an_operation_that_is_open(reference: Any) -> None:
    _, operation = reference("Fashion Models", "listFashionModels")

    expect(operation).to_have_class(re.compile("is-open"), timeout=PATIENCE_MS)
    expect(operation).to_be_in_viewport()


def test_every_operation_of_the_contract_is_there(
    visitor: Any,
    service: Service,
) -> None:
    paths = service.told("GET", "/contract.json")["paths"]
    operations = 0
    for path in paths.values():
        operations += len(path.keys() - {"parameters"})

    visit = visitor("/_emulator/reference")

    blocks = visit.page.locator(".opblock")
    expect(blocks).to_have_count(operations, timeout=PATIENCE_MS)


def test_a_request_brings_the_credential_of_the_sandbox(
    reference: Any,
    service: Service,
) -> None:
    visit, operation = reference("Team", "getTeam")
    lock = field(operation, "authorization button locked")
    expect(lock).to_be_visible(timeout=PATIENCE_MS)

    execute(operation)

    expect(visit.footer()).to_contain_text("getTeam: 200")
    (entry,) = service.journal()
    assert entry["credential"]["team"]["name"] == "Demo"


def test_each_write_has_an_idempotency_key_of_its_own(
    reference: Any,
    service: Service,
) -> None:
    visit, operation = reference("Uploads", "createUpload")
    answer = visit.footer()
    execute(operation)
    explain = link(answer, "Explain in Requests")
    expect(explain).to_have_attribute("href", re.compile("requests/1$"))

    execute(operation)

    expect(explain).to_have_attribute("href", re.compile("requests/2$"))
    second, first = service.journal()
    assert first["status"] == 201
    assert second["status"] == 201
    assert first["idempotency_key"] != second["idempotency_key"]


def test_a_key_that_a_person_typed_is_sent_again_as_it_is(
    reference: Any,
    service: Service,
) -> None:
    visit, operation = reference("Uploads", "createUpload")
    answer = visit.footer()
    key = operation.get_by_placeholder("Idempotency-Key")
    key.fill("mine", timeout=PATIENCE_MS)
    execute(operation)
    expect(answer).to_contain_text("201")

    execute(operation)

    expect(answer).to_contain_text("replayed")
    assert service.told("GET", "/requests?idempotency_key=mine")["total"] == 2


def test_a_problem_is_asked_for_by_a_field(reference: Any, service: Service) -> None:
    visit, operation = reference("Team", "getTeam")
    fault = operation.locator("tr[data-param-name='Emulator-Fault'] select")

    fault.select_option("rate_limited", timeout=PATIENCE_MS)
    execute(operation)

    expect(visit.footer()).to_contain_text("429 rate_limited")
    visit.complaints.clear()  # the browser's own note of the 429


def test_the_problems_are_those_that_the_operation_can_answer(
    reference: Any,
    service: Service,
) -> None:
    _, operation = reference("Team", "getTeam")
    fault = operation.locator("tr[data-param-name='Emulator-Fault'] select")
    expect(fault).to_be_visible(timeout=PATIENCE_MS)

    codes = [code for code in fault.get_by_role("option").all_inner_texts() if code]

    for code in codes[1:]:
        answer = service.get("/team", headers={"Emulator-Fault": code})
        assert answer.code == code


def test_an_answer_leads_to_its_explanation(reference: Any) -> None:
    visit, operation = reference("Products", "createProduct")
    execute(operation)

    link(visit.page, "Explain in Requests").click()

    expect(visit.region("Requests")).to_contain_text("invalid_reference")
    expect(visit.region("Requests")).to_contain_text("Remedy")
    visit.complaints.clear()  # the browser's own note of the 422


@pytest.mark.served("--clock", "manual", "--control-token", TOKEN)
def test_with_a_control_token_it_asks_for_it_and_works(reference: Any) -> None:
    visit, operation = reference("Team", "getTeam")
    token = field(visit.page, "Control token")

    enter(token, TOKEN)
    execute(operation)

    expect(visit.footer()).to_contain_text("getTeam: 200")
    with_the_token = visit.addresses_with(TOKEN)
    assert with_the_token == []


def test_it_asks_nobody_but_the_emulator(reference: Any) -> None:
    visit, operation = reference("Team", "getTeam", **PHONE)
    execute(operation)
    expect(visit.footer()).to_contain_text("getTeam: 200")

    own = visit.origin
    foreign = visit.addresses_outside(own)
    assert foreign == []


def test_another_sandbox_is_asked_with_its_own_key(
    visitor: Any,
    service: Service,
) -> None:
    service.make_sandbox("mine")
    visit = visitor("/_emulator/reference?sandbox=mine#/Team/getTeam")

    execute(visit.operation("Team", "getTeam"))

    expect(visit.footer()).to_contain_text("getTeam: 200")
    assert len(service.told("GET", "/sandboxes/mine/requests")["data"]) == 1


def test_a_decision_leads_to_its_page_of_help(visit: Visit, service: Service) -> None:
    service.post("/products", {"name": "Shirt"})
    details = visit.opened_request("invalid_input")

    decision = details.locator(".decision").first
    name = decision.inner_text()
    decision.click()

    title = visit.page.get_by_role("heading", name=f"{name}: ")
    expect(title).to_be_in_viewport()


def test_a_problem_code_leads_to_its_page_of_help(
    visit: Visit,
    service: Service,
) -> None:
    service.post("/products", {"name": "Shirt"})
    details = visit.opened_request("invalid_input")

    link(details, "invalid_input").click()

    title = heading(visit.page, "invalid_input")
    expect(title).to_be_in_viewport()
