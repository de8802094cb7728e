"""A fault that answers something else where the commit would be: the hook `before_commit` of image_workflow_emulator.scenario.faults."""

from image_workflow_emulator.http.responses import Response
from image_workflow_emulator.scenario.faults.fault import Fault, FaultContext
from image_workflow_emulator.scenario.scenario import Rule, Scenario
from image_workflow_emulator.service.sandbox import scenarios
from tests.support.emulator_client import UPLOAD, EmulatorUnderTest


class _RefusingFault(Fault, frozen=True):
    """Answers by itself, instead of raising a problem."""

    def before_commit(self, context: FaultContext) -> Response | None:
        return context.refuse(context.problem("service_unavailable", "not today", None))


def test_an_answer_in_place_of_the_commit_changes_nothing_and_frees_the_key(emulator: EmulatorUnderTest) -> None:
    scenario = Scenario("refusing", rules=(Rule("refusing", fault=_RefusingFault()),))
    scenarios.begin(emulator.sandbox, scenario, emulator.sandbox.began_at)
    answers = [emulator.post("/uploads", body, idempotency_key="k") for body in ({}, UPLOAD)]
    assert [(422, "invalid_input"), (503, "service_unavailable")] == [answer.outcome for answer in answers]
    assert {"refusing": (2, 1)} == emulator.rules(), "only what would be carried out is replaced"
    scenarios.end(emulator.sandbox)
    assert 201 == emulator.post("/uploads", UPLOAD | {"size_bytes": 11}, idempotency_key="k").status
