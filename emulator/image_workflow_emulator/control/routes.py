"""The routes of the control plane: which path is answered by which function.

A row is named after its operation in `contract/control-plane.yaml`, which says what the
operation takes. Programs have no use for the page and its files, which the contract
leaves out. Among the rows of a path the first that fits answers.
"""

from typing import Final

from starlette.routing import BaseRoute, Mount, Router

from image_workflow_emulator.control import (
    PREFIX,
    admission,
    assets,
    clock,
    contract_files,
    documentation,
    events,
    examination,
    given,
    health,
    journal,
    ledger,
    page_files,
    readings,
    reference,
    sandboxes,
    scenario_library,
    scenarios,
    session,
    state_files,
    teams,
    work,
)
from image_workflow_emulator.control.endpoint import ControlRoute as Route
from image_workflow_emulator.control.operations import Operation, query_parameter

_FOR_PEOPLE: Final = Operation(
    query={"sandbox": query_parameter("Sandbox")},
    concerns_process=True,
)
"""What the page and its files take: the sandbox that the page shows first."""

PAGE: Final = Route(
    PREFIX,
    page_files.show_page,
    methods=["GET"],
    name="showPage",
    operation=_FOR_PEOPLE,
)

PAGE_ROUTES: Final[list[Route]] = [
    Route(
        "/reference",
        reference.show_reference,
        methods=["GET"],
        name="showReference",
        operation=_FOR_PEOPLE,
    ),
    Route(
        "/page/{file}",
        page_files.show_file,
        methods=["GET"],
        name="showFile",
        operation=_FOR_PEOPLE,
    ),
]
"""Those below the page, which the contract leaves out too."""

PROCESS_ROUTES: Final[list[Route]] = [
    Route("/health", health.get_health, methods=["GET"], name="getHealth"),
    Route(
        "/contract",
        contract_files.get_contract,
        methods=["GET"],
        name="getContract",
    ),
    Route(
        "/contract.json",
        contract_files.get_contract,
        methods=["GET"],
        name="getContractAsJson",
    ),
    Route(
        "/contract.yaml",
        contract_files.get_contract_as_yaml,
        methods=["GET"],
        name="getContractAsYaml",
    ),
    Route(
        "/scenario.schema.json",
        contract_files.get_scenario_schema,
        methods=["GET"],
        name="getScenarioSchema",
    ),
    Route(
        "/world.schema.json",
        contract_files.get_world_schema,
        methods=["GET"],
        name="getWorldSchema",
    ),
    Route("/docs", documentation.list_pages, methods=["GET"], name="listPages"),
    Route("/docs/{path:path}", documentation.get_page, methods=["GET"], name="getPage"),
    Route(
        "/llms.txt",
        documentation.get_llms_text,
        methods=["GET"],
        name="getLlmsText",
    ),
    Route(
        "/scenarios",
        scenario_library.list_scenarios,
        methods=["GET"],
        name="listScenarios",
    ),
    Route(
        "/scenarios/{scenario}",
        scenario_library.get_library_scenario,
        methods=["GET"],
        name="getLibraryScenario",
    ),
    Route(
        "/sandboxes",
        sandboxes.list_sandboxes,
        methods=["GET"],
        name="listSandboxes",
    ),
    Route(
        "/sandboxes",
        sandboxes.create_sandbox,
        methods=["POST"],
        name="createSandbox",
    ),
    Route(
        "/sandboxes/{sandbox}",
        sandboxes.get_sandbox,
        methods=["GET"],
        name="getSandbox",
    ),
    Route(
        "/sandboxes/{sandbox}",
        sandboxes.delete_sandbox,
        methods=["DELETE"],
        name="deleteSandbox",
    ),
]
"""Those that concern the process as a whole."""

SANDBOX_ROUTES: Final[list[Route]] = [
    Route(
        "/reset",
        sandboxes.reset_sandbox,
        methods=["POST"],
        name="resetSandbox",
        settles=False,
    ),
    Route("/clock", clock.get_clock, methods=["GET"], name="getClock"),
    Route("/clock", clock.set_clock, methods=["PUT"], name="setClock"),
    Route("/clock/advance", clock.advance_clock, methods=["POST"], name="advanceClock"),
    Route("/readings", readings.list_readings, methods=["GET"], name="listReadings"),
    Route("/teams", teams.list_teams, methods=["GET"], name="listTeams"),
    Route("/teams", teams.create_team, methods=["POST"], name="createTeam"),
    Route("/teams/{team}", teams.change_team, methods=["PATCH"], name="changeTeam"),
    Route("/teams/{team}/ledger", ledger.get_ledger, methods=["GET"], name="getLedger"),
    Route(
        "/teams/{team}/credentials",
        teams.create_credential,
        methods=["POST"],
        name="createCredential",
    ),
    Route(
        "/credentials/{credential}",
        teams.change_credential,
        methods=["PATCH"],
        name="changeCredential",
    ),
    Route("/scenario", scenarios.get_scenario, methods=["GET"], name="getScenario"),
    Route("/scenario", scenarios.put_scenario, methods=["PUT"], name="putScenario"),
    Route(
        "/scenario",
        scenarios.delete_scenario,
        methods=["DELETE"],
        name="deleteScenario",
    ),
    Route(
        "/scenario/check",
        scenario_library.check_scenario,
        methods=["POST"],
        name="checkScenario",
    ),
    Route("/admission", admission.get_admission, methods=["GET"], name="getAdmission"),
    Route("/admission", admission.set_admission, methods=["PUT"], name="setAdmission"),
    Route("/requests", journal.list_requests, methods=["GET"], name="listRequests"),
    Route(
        "/requests",
        journal.clear_requests,
        methods=["DELETE"],
        name="clearRequests",
    ),
    Route(
        "/requests/{request}",
        journal.get_request,
        methods=["GET"],
        name="getRequest",
    ),
    Route("/events", events.stream_events, methods=["GET"], name="streamEvents"),
    Route("/conduct", examination.get_conduct, methods=["GET"], name="getConduct"),
    Route("/coverage", examination.get_coverage, methods=["GET"], name="getCoverage"),
    Route("/work", work.list_work, methods=["GET"], name="listWork"),
    Route("/assets", assets.list_all_assets, methods=["GET"], name="listAllAssets"),
    Route("/assets", assets.create_asset, methods=["POST"], name="createAsset"),
    Route(
        "/pictures/{picture}",
        assets.get_picture,
        methods=["GET"],
        name="getPicture",
    ),
    Route("/given", given.give, methods=["POST"], name="give"),
    Route("/session", session.get_session, methods=["GET"], name="getSession"),
    Route("/state", state_files.save_state, methods=["GET"], name="saveState"),
    Route(
        "/state",
        state_files.load_state,
        methods=["PUT"],
        name="loadState",
        settles=False,
    ),
]
"""Those that concern one sandbox: `default`, and below `/sandboxes/{sandbox}` another."""

ROUTES: Final[list[BaseRoute]] = [
    *PAGE_ROUTES,
    *PROCESS_ROUTES,
    *SANDBOX_ROUTES,
    Mount("/sandboxes/{sandbox}", Router(SANDBOX_ROUTES, redirect_slashes=False)),
]
"""All routes below `/_emulator`."""
