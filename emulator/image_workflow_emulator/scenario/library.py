"""The library: the scenario files that are shipped, and one scenario for each problem
code, found by name.

`problem:CODE` is no file: the first call of each operation that can answer with this
code does. The caller passes the contract.
"""

from functools import cached_property

from msgspec.structs import replace

from image_workflow_emulator.contract import Contract
from image_workflow_emulator.documents.complaints import (
    Complaint,
    DocumentError,
    choice_of,
    clause,
    nearest,
)
from image_workflow_emulator.domain.problems import CATALOGUE
from image_workflow_emulator.kernel.wording import excerpt
from image_workflow_emulator.scenario.named_files import PROBLEM_PREFIX, library_files
from image_workflow_emulator.scenario.scenario import Scenario
from image_workflow_emulator.scenario.scenario_reader import parse_scenario
from image_workflow_emulator.scenario.world import WorldNames


class ScenarioLibrary:
    """The shipped scenarios, each in a file of its name, and those of the problem
    codes.
    """

    def __init__(self, contract: Contract) -> None:
        self._contract = contract

    def names(self) -> list[str]:
        """Return the names there are: of files, sorted, and then of problem codes, in
        the order of the catalogue.
        """
        return [
            *sorted(library_files()),
            *(PROBLEM_PREFIX + code for code in CATALOGUE),
        ]

    @cached_property
    def entries(self) -> list[dict[str, str]]:
        """The name and the description of every scenario.

        Raises:
            DocumentError: a file cannot be used.
        """
        scenarios = [self.load(name) for name in sorted(library_files())]
        entries = [
            _entry(scenario.name, scenario.description) for scenario in scenarios
        ]
        entries += [
            _entry(PROBLEM_PREFIX + code, _problem_description(code))
            for code in CATALOGUE
        ]
        return entries

    def text(self, name: str) -> str:
        """Return the text of a scenario: of its file, if it has one.

        Raises:
            DocumentError: there is no scenario of this name.
        """
        names = self.names()
        if name not in names:
            words = clause(
                found=excerpt(name),
                expected=choice_of(names, "the name of a scenario"),
                suggestions=nearest(name, names),
            )
            complaint = Complaint(
                file="scenarios",
                line=0,
                column=0,
                words=words,
            )
            raise DocumentError([complaint])
        if not name.startswith(PROBLEM_PREFIX):
            return library_files()[name].read_text(encoding="utf-8")
        code = name.removeprefix(PROBLEM_PREFIX)
        head = f"scenario: {name}\ndescription: >-\n  {_problem_description(code)}\n"
        rules = [
            _rule_of(operation.id, code)
            for operation in self._contract.operations.values()
            if code in operation.all_codes
        ]
        return f"{head}rules:\n{''.join(rules)}"

    def load(self, name: str, world: WorldNames | None = None) -> Scenario:
        """Read a scenario.

        Raises:
            DocumentError: there is no scenario of this name, or its file cannot be
                used.
        """
        scenario = parse_scenario(
            self.text(name),
            f"{name}.yaml",
            self._contract,
            world,
        )
        return replace(scenario, is_shipped=True)


def _entry(name: str, description: str) -> dict[str, str]:
    return {"name": name, "description": description}


def _rule_of(operation: str, code: str) -> str:
    """Write the rule for the first call of an operation."""
    match = f"match: {{operation: {operation}}}, when: {{nth: 1}}"
    return f"  - {{name: first {operation}, {match}, then: {{problem: {code}}}}}\n"


def _problem_description(code: str) -> str:
    kind = CATALOGUE[code]
    return (
        f"The first call of each operation that can return {kind.status} {code} "
        f"does so. What a good client does: {kind.recovery}."
    )
