"""The checks of a sandbox that is loaded, in their order: a later one relies on what those before it have found."""

from collections.abc import Callable
from functools import partial

from emulator.contract import Contract
from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.beginning import check_beginning
from emulator.service.state.soundness.events import check_events
from emulator.service.state.soundness.idempotency import check_records
from emulator.service.state.soundness.library import check_library
from emulator.service.state.soundness.pictures import hold_pictures
from emulator.service.state.soundness.playbooks import check_playbooks
from emulator.service.state.soundness.teams import check_teams
from emulator.service.state.soundness.uploads import check_uploads
from emulator.service.state.soundness.work import check_work


def make_sound(sandbox: Sandbox, contract: Contract, go_on: Callable[[], None]) -> None:
    """Check a sandbox that was read from a state file, and make what follows from the rest.

    `go_on` is called before each step. Raises StateError, and what `go_on` raises.
    """
    for step in (
        check_beginning,
        check_teams,
        check_playbooks,
        check_uploads,
        check_library,
        partial(check_work, contract=contract),
        check_events,
        hold_pictures,
        check_records,
    ):
        go_on()
        step(sandbox)
