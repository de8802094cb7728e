"""Teams and their credentials."""

from emulator.service.sandbox import Sandbox
from emulator.service.state.soundness.rows import KEY, MOST_CREDITS, check_instants, check_new, numbered


def check_teams(sandbox: Sandbox) -> None:
    """Check the accounts of Teams and credentials. Raises StateError."""
    for account in numbered("/accounts", sandbox.accounts.values()):
        account.expect_given(sandbox, "team/id", "team")
        account.expect(account.item.ledger.granted <= MOST_CREDITS, "ledger/granted", "fewer")
        check_instants(sandbox, f"{account.where}/rate/admitted", account.item.rate.admitted)
    ids = set[str]()
    for held in numbered("/credentials", sandbox.credentials.values()):
        credential = held.item.credential
        held.expect_given(sandbox, "credential/id", "cred")
        check_new(f"{held.where}/credential/id", credential.id, ids)
        held.expect_team(sandbox, "credential/team_id")
        held.expect(KEY.fullmatch(credential.key), "credential/key", "an API key")
        check_instants(sandbox, f"{held.where}/rate/admitted", held.item.rate.admitted)
