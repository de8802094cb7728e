"""The steps of a play: what a client does against a scenario of the library. Each returns in a few words what it saw."""

from collections.abc import Callable
from http.client import IncompleteRead
from typing import Any

from tests.playing_scenarios.player import errors_of, generation_call
from tests.support.emulator_client import (
    FULL,
    UPLOAD,
    Answer,
    Call,
    Client,
    EmulatorUnderTest,
    Json,
    completion_call,
    control_call,
)
from tests.support.pictures import picture
from tests.support.served_client import IMPATIENT_SECONDS, ServedClient


class Player:
    """A client, and what it remembers: a small picture of its own, brought in when first needed, and its last work."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.key = FULL
        self.work: Json = {}
        self.credits = 0
        self._assets: list[str] = []

    def __getitem__(self, name: str) -> str:
        """What stands for `{asset}` and `{work}` in paths: an id, and the path of the last work."""
        if name == "work":
            return f"/{self.work['object']}s/{self.work['id']}"
        self._assets = self._assets or self.client.assets(1, self.key)
        return self._assets[0]

    def send(self, call: Call) -> str:
        """Send a request; tell the status, or the code with the wait that it asks for, or how the answer was lost."""
        try:
            return self.note(self.client.send(call))
        except ConnectionResetError:
            return "reset"
        except IncompleteRead:
            return "cut short"

    def note(self, answer: Answer) -> str:
        if answer.status == 202:
            self.work = answer.json
        if answer.status < 400:
            return str(answer.status)
        return answer.code if answer.retry_after is None else f"{answer.code}, wait {answer.retry_after} s"


Step = Callable[[Player], str]
Play = tuple[tuple[str, Step], ...]
"""What is seen, and the step that shows it."""


def ask(method: str, path: str, body: Any = None, key: str = "k") -> Step:
    return lambda player: player.send(
        Call(method, path.format_map(player), _filled(body, player), key=player.key, idempotency_key=key)
    )


def _filled(body: Any, player: Player) -> Any:
    """A body with the id of the Asset in place of `{asset}`."""
    if isinstance(body, dict):
        return {name: _filled(value, player) for name, value in body.items()}
    if isinstance(body, list):
        return [_filled(value, player) for value in body]
    return player["asset"] if body == "{asset}" else body


def get(path: str) -> Step:
    return ask("GET", path)


def order(workflow: str, key: str = "k") -> Step:
    """Ask for one output, for 1 Credit."""
    return lambda player: player.send(generation_call(workflow, player["asset"], key, player.key))


def upscale(key: str = "k") -> Step:
    return order("upscale", key)


def photograph(key: str = "k", **body: Any) -> Step:
    return ask("POST", "/generations/product-photography", {"asset_ids": ["{asset}"]} | body, key)


def insist(call: Callable[[Player], Call], *statuses: int) -> Step:
    """Send a request with its key until it is let in, waiting as told; tell how long that took."""

    def insistent(player: Player) -> str:
        answer, waits = player.client.insist(call(player), statuses or (429, 503))
        return f"{player.note(answer)} after {sum(waits)} s"

    return insistent


def an_upscale(key: str) -> Callable[[Player], Call]:
    return lambda player: generation_call("upscale", player["asset"], key, player.key)


def an_upload(player: Player) -> Call:
    return Call("POST", "/uploads", UPLOAD, key=player.key, idempotency_key="k")


def give_up(path: str) -> Step:
    """Read what is never answered, for as long as a client has patience."""

    def impatient(player: Player) -> str:
        assert isinstance(player.client, ServedClient)
        try:
            answer = player.client.send(Call("GET", path.format_map(player)), seconds=IMPATIENT_SECONDS)
        except TimeoutError:
            return "silence"
        return player.note(answer)

    return impatient


def complete(player: Player) -> str:
    """Open an Upload Session, send its bytes, and complete it."""
    return player.send(completion_call(*player.client.ready_upload(key=player.key), key=player.key))


def send_bytes_again(player: Player) -> str:
    """Send the bytes of a new session twice to its address, and complete it; tell the three outcomes."""
    session = player.client.open_upload(len(picture()))
    upload = session["upload"]
    call = Call("POST", upload["url"], content=picture(), key=None, idempotency_key=None, headers=upload["headers"])
    lost, sent = player.send(call), player.client.send(call)
    return f"{lost}, {player.note(sent)}, {player.send(completion_call(session, sent.json['upload_token']))}"


def twice(call: Callable[[Player], Call], held_seconds: float) -> Step:
    """Send a request that is held, and once more meanwhile, and let the time of the hold pass."""

    def hasty(player: Player) -> str:
        assert isinstance(player.client, EmulatorUnderTest)
        sent, advance = call(player), control_call("POST", "/clock/advance", {"seconds": held_seconds})
        first, second, _ = player.client.together(sent, sent, advance)
        return f"{player.note(first)}, {player.note(second)}"

    return hasty


def poll(player: Player) -> str:
    """Look at the last work; tell its status, and the wait that is asked for."""
    answer = player.client.get(player["work"], player.key)
    return f"{answer.json['status']}, wait {answer.retry_after} s"


def end(player: Player) -> str:
    """Wait for the last work; tell how it ended, with the errors of what failed, and whether those are worth a retry."""
    done = player.client.wait_for(player.work, player.key)
    if done["object"] == "operation":
        return str(done["status"] if done["error"] is None else done["error"]["code"])
    return " ".join([done["status"], *(code for code in errors_of(done) if code)])


def account(player: Player) -> str:
    """Tell how many Credits were spent since the last look, which no scenario is asked about."""
    before, player.credits = player.credits, player.client.team()["credits"]
    return f"{max(before - player.credits, 0)} spent"


def replace_source(path: str) -> Step:
    """Have the newest ingredient of the Team made again."""

    def replacing(player: Player) -> str:
        newest = player.client.items(f"{path}?scope=team")[0]["id"]
        return player.send(Call("PATCH", f"{path}/{newest}", {"asset_id": player["asset"]}))

    return replacing


def count(path: str) -> Step:
    return lambda player: str(player.client.count(path, player.key))


def wait(seconds: float) -> Step:
    def waiting(player: Player) -> str:
        player.client.told("POST", "/clock/advance", {"seconds": seconds})
        return ""

    return waiting


def control(method: str, path: str, body: Any = None) -> Step:
    """Ask the control plane, as whoever operates the service would."""
    return lambda player: str(player.client.ask(method, path, body).status)


def replace_key(player: Player) -> str:
    """Go on with another credential of the Team."""
    player.key = player.client.new_key()
    return ""
