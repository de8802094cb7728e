"""The model: a small service, obviously right, against which the emulator is held (sections 3 to 7, D01 to D51).

It answers each request by straight rules on plain dicts, in the order of D01. It cannot make up identifiers: for what it
admits, it asks which one the service gave. Must not import anything of the emulator.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tests.model import creative_work
from tests.model.creative_work import ResultOf
from tests.model.meanings import INGREDIENTS, KINDS, WORKFLOWS, meaning_of, operation_id, same_meaning
from tests.model.model_state import STATUS_OF, Identify, Refusal, State, newest_first
from tests.model.reckoning import KEY_RETENTION, UPLOAD_WINDOW, Json, instant_of, timestamp
from tests.model.sample_files import SampleFile


@dataclass(slots=True)
class Ask:
    """A request: `path` has no query. `flaw` is the code of what is wrong with it by itself, if something is.

    `after` is the last item shown, (created_at, id), where the query has a cursor.
    """

    key: str
    method: str
    path: str
    body: Any = None
    idempotency_key: str | None = None
    query: dict[str, str] = field(default_factory=dict)
    after: tuple[str, str] | None = None
    flaw: str | None = None

    @property
    def operation(self) -> str:
        """The contract's name of what is asked for."""
        return operation_id(self.method, self.path)

    def described(self) -> str:
        """Describe the request to the reader of a failure."""
        query = "&".join(f"{name}={value}" for name, value in self.query.items())
        key = f" Idempotency-Key {self.idempotency_key!r}" if self.idempotency_key else ""
        flaw = f" ({self.flaw} on purpose)" if self.flaw else ""
        return f"{self.key}{key}: {self.method} {self.path}?{query} {self.body}{flaw}"

    @property
    def kind(self) -> str:
        """The kind of resource that the path begins with."""
        return KINDS.get(self.path.split("/")[1], "team")

    @property
    def identifier(self) -> str:
        """The id in the path."""
        return self.path.split("/")[2]


@dataclass(slots=True)
class Expected:
    """The answer that a request must get. `told` is the first answer of a replay, to be repeated to the byte.

    `is_repeat`: it was answered before, so its Request-Id is an old one.
    """

    status: int
    body: Any = None
    code: str | None = None
    location: str | None = None
    retry_after: int | None = None
    active: set[str] = field(default_factory=set)
    told: Any = None
    is_repeat: bool = False


class ServiceModel:
    """The model with its state."""

    def __init__(self, now: int, teams: list[Json], premade: dict[str, list[Json]]) -> None:
        self.state = State(now, {}, {})
        for team in teams:
            self.state.teams[team["name"]] = {
                "id": team["id"],
                "name": team["name"],
                "credits": team["credits"],
                "subscription": team["subscription"] == "active",
                "limit": team["concurrency_limit"],
            }
            for credential in team["credentials"]:
                expires_at = instant_of(credential["expires_at"])
                self.state.credentials[credential["key"]] = {
                    **credential,
                    "team": team["name"],
                    "expires_at": expires_at,
                }
        for kind, ingredients in premade.items():
            for ingredient in ingredients:
                self.state.owner[ingredient["id"]] = None
                self.state.versions[ingredient["id"]] = 0
                self.state.things[kind][ingredient["id"]] = ingredient

    # What is done to the service from outside -------------------------------------------------------------------------

    def advance(self, until: int, result_of: ResultOf) -> None:
        """Let time pass."""
        creative_work.settle(self.state, until, result_of)

    def change_team(self, name: str, change: Json) -> None:
        """Set the Credits, the Subscription or the concurrency limit of a Team."""
        team = self.state.teams[name]
        team["credits"] = change.get("credits", team["credits"])
        team["limit"] = change.get("concurrency_limit", team["limit"])
        if "subscription" in change:
            team["subscription"] = change["subscription"] == "active"

    def run_scenario(self, scenario: Json) -> None:
        """Let a scenario begin, in place of the one that ran; what that one changed stays changed."""
        self.state.rules = [{**rule, "matched": 0} for rule in scenario.get("rules", [])]
        self.state.timeline = [
            (self.state.now + timed["at"] * 1000, timed["set"]) for timed in scenario.get("timeline", [])
        ]

    # Requests ---------------------------------------------------------------------------------------------------------

    def handle(self, ask: Ask, answer: Any, identify: Identify) -> Expected:
        """Answer a request. `answer` is what the service answered: what a key is bound to, opaque here."""
        try:
            return self._handle(ask, answer, identify)
        except Refusal as refusal:
            return _refused(refusal)

    def _handle(self, ask: Ask, answer: Any, identify: Identify) -> Expected:
        state = self.state
        credential = self.check_credential(ask.key)
        state.fault = state.count_match("operation", ask.operation)
        if ask.method != "GET" and credential["profile"] != "full":
            raise Refusal("permission_denied")
        if ask.flaw is not None:
            raise Refusal(ask.flaw)
        if ask.method == "GET":
            return self._read(ask, credential)
        meaning = meaning_of(ask.operation, ask.body) if ask.body is not None else {}
        record_key = (ask.key, ask.method, ask.path, ask.idempotency_key or "")
        if ask.method != "DELETE":
            replay = self._replay(ask, record_key, meaning, answer)
            if replay is not None:
                return self._hidden() or replay
        if state.is_paused:
            raise Refusal("service_unavailable", retry_after=state.pause_seconds)
        if ask.method != "DELETE" and not state.teams[credential["team"]]["subscription"]:
            raise Refusal("subscription_required")
        expected = self._admit(ask, credential, meaning, identify)
        if ask.method == "DELETE" or (expected.status >= 300 and expected.code != "insufficient_credits"):  # D10
            return expected
        hidden = self._hidden() if expected.status < 300 else None
        told = answer if hidden is None else None
        state.records[record_key] = {"at": state.now, "meaning": meaning, "expected": expected, "told": told}
        return hidden or expected

    def _hidden(self) -> Expected | None:
        """Return the problem that a scenario puts in the place of the answer, when everything has happened."""
        fault = self.state.fault
        if fault.get("at") != "after_commit":
            return None
        wait = self.state.pause_seconds if fault["problem"] == "service_unavailable" else None
        return _refused(Refusal(fault["problem"], wait))

    def check_credential(self, key: str) -> Json:
        """Let in whoever has a good key (section 5). Raises Refusal."""
        credential = self.state.credentials.get(key)
        if credential is None:
            raise Refusal("authentication_required")
        if credential["state"] == "revoked":
            raise Refusal("credential_revoked")
        if self.state.now >= credential["expires_at"]:
            raise Refusal("credential_expired")
        return credential

    def _replay(self, ask: Ask, record_key: tuple[str, ...], meaning: Json, answer: Any) -> Expected | None:
        record = self.state.records.get(record_key)
        if record is None or self.state.now >= record["at"] + KEY_RETENTION:
            return None
        if not same_meaning(ask.operation, record["meaning"], meaning):
            raise Refusal("idempotency_key_reused")
        expected: Expected = record["expected"]
        if record["told"] is None:  # the answer was lost, and comes now for the first time
            if self._hidden() is None:
                record["told"] = answer
            return replace(expected, is_repeat=True)
        return Expected(expected.status, told=record["told"], is_repeat=True)

    def _admit(self, ask: Ask, credential: Json, meaning: Json, identify: Identify) -> Expected:
        """Do what is asked; a refusal is an answer here, since one of them binds the key."""
        try:
            if self.state.fault.get("problem") == "internal_error":
                self.state.check_fault()
            return self._write(ask, credential, meaning, identify)
        except Refusal as refusal:
            return _refused(refusal)

    # Reading ------------------------------------------------------------------------------------------------------------

    def _read(self, ask: Ask, credential: Json) -> Expected:
        team = credential["team"]
        if ask.path == "/team":
            return Expected(200, self.team(ask.key))
        if ask.path.count("/") == 1:
            return Expected(200, self._page(ask, team))
        thing = self.state.get(ask.kind, ask.identifier, team)
        return Expected(200, _copy(thing), retry_after=creative_work.retry_after(self.state, ask.identifier))

    def team(self, key: str) -> Json:
        """Return the Team of a key, as the key sees it."""
        credential = self.state.credentials[key]
        team = self.state.teams[credential["team"]]
        is_active = team["subscription"]
        return {
            "object": "team",
            "id": team["id"],
            "name": team["name"],
            "credits": team["credits"],
            "credential": {
                "object": "api_credential",
                "id": credential["id"],
                "name": credential["name"],
                "profile": credential["profile"],
                "expires_at": timestamp(credential["expires_at"]),
            },
            "capabilities": {
                "api_access": True,
                "subscription_active": is_active,
                "creative_writes_allowed": is_active and credential["profile"] == "full",  # D20
                "api_concurrency": {"limit": team["limit"], "used": len(self.state.work_of(team["name"]))},
            },
        }

    def listed(self, kind: str, team: str, filters: dict[str, str]) -> list[Json]:
        """Return a whole list, newest first."""
        if kind not in INGREDIENTS:
            found = self.state.of_team(kind, team)
            target = filters.get("target_id")
            named = {name: value for name, value in filters.items() if name != "target_id"}
            return [
                thing
                for thing in found
                if all(thing[name] == value for name, value in named.items())
                and (target is None or (thing["target"] or {}).get("id") == target)
            ]
        scopes: dict[str, list[str | None]] = {"team": [team], "global": [None], "all": [team, None]}
        owners = scopes[filters.get("scope", "all")]
        return newest_first(thing for owner in owners for thing in self.state.of_team(kind, owner))

    def _page(self, ask: Ask, team: str) -> Json:
        filters = {name: value for name, value in ask.query.items() if name not in ("limit", "after")}
        found = self.listed(ask.kind, team, filters)
        if ask.after is not None:
            found = [thing for thing in found if (thing["created_at"], thing["id"]) < ask.after]
        limit = int(ask.query.get("limit", "25"))
        return {"data": [_copy(thing) for thing in found[:limit]], "has_more": len(found) > limit}

    # Writing ------------------------------------------------------------------------------------------------------------

    def _write(self, ask: Ask, credential: Json, meaning: Json, identify: Identify) -> Expected:
        team = credential["team"]
        if ask.kind in INGREDIENTS:
            return self._write_ingredient(ask, team, meaning, identify)
        if ask.kind == "generation":
            workflow = WORKFLOWS[ask.path.split("/")[2]]
            return Expected(202, _copy(creative_work.generate(self.state, credential, workflow, meaning, identify)))
        rule = {
            "createUpload": self._open_session,
            "completeUpload": self._complete,
            "deleteAsset": self._delete_asset,
            "createProduct": self._create_product,
            "updateProduct": self._change_product,
            "deleteProduct": self._delete_product,
        }[ask.operation]
        return rule(ask, team, meaning, identify)

    def _write_ingredient(self, ask: Ask, team: str, meaning: Json, identify: Identify) -> Expected:
        state, kind = self.state, ask.kind
        target = None
        if ask.method != "POST":
            target = ask.identifier
            ingredient = state.get(kind, target, team)
            if ingredient["scope"] == "global":
                raise Refusal("permission_denied")  # D21
            creative_work.check_idle_target(state, target)
            if ask.method == "DELETE":
                del state.things[kind][target]
                return Expected(204)
            if "asset_id" not in meaning and "asset_ids" not in meaning:
                ingredient.update(meaning, updated_at=state.time())
                return Expected(200, _copy(ingredient))
        operation = creative_work.author(state, team, kind, target, meaning, identify)
        return Expected(202, _copy(operation), location=f"/operations/{operation['id']}")

    def _open_session(self, ask: Ask, team: str, meaning: Json, identify: Identify) -> Expected:
        session_id = identify("upload")
        expires_at = self.state.now + UPLOAD_WINDOW
        self.state.owner[session_id] = team
        self.state.things["upload"][session_id] = {
            "type": meaning["content_type"],
            "size": meaning["size_bytes"],
            "file": None,
            "expires_at": expires_at,
            "is_open": True,
        }
        status = {"object": "upload", "id": session_id, "status": "awaiting_upload"}
        return Expected(201, {**status, "method": "POST", "expires_at": timestamp(expires_at)})

    def send_bytes(self, session_id: str, file: SampleFile) -> Expected:
        """Send bytes to a session's address, with all of its headers (section 4, D16, D45)."""
        session = self.state.things["upload"][session_id]
        if not session["is_open"]:
            return _refused(Refusal("upload_not_found"))
        if self.state.now >= session["expires_at"]:
            return _refused(Refusal("upload_expired"))
        if session["file"] is None and len(file.data) != session["size"]:
            return _refused(Refusal("invalid_request"))
        if session["file"] is not None and session["file"].data != file.data:
            return _refused(Refusal("upload_bytes_conflict"))
        session["file"] = file
        return Expected(200)

    def _complete(self, ask: Ask, team: str, meaning: Json, identify: Identify) -> Expected:
        session = self.state.get("upload", ask.identifier, team)
        if not session["is_open"]:
            raise Refusal("upload_not_found")  # D17
        if self.state.now >= session["expires_at"]:
            raise Refusal("upload_expired")
        file = session["file"]
        if file is None or meaning["upload_token"] != session.get("token"):
            raise Refusal("invalid_input")
        session["is_open"] = False
        if file.holds != session["type"]:
            raise Refusal("invalid_input")
        width, height = file.size
        asset_id = identify("asset")
        picture = {"format": file.format, "width": width, "height": height}
        asset = creative_work.add_asset(self.state, team, asset_id, None, file.scene, **picture)
        return Expected(201, _copy(asset), location=f"/assets/{asset_id}")

    def _delete_asset(self, ask: Ask, team: str, meaning: Json, identify: Identify) -> Expected:
        """Delete an Asset, and take it out of every Product (section 3, rule 5)."""
        state, asset_id = self.state, ask.identifier
        state.get("asset", asset_id, team)
        creative_work.check_idle_source(state, asset_id)
        products = [product for product in state.of_team("product", team) if asset_id in product["asset_ids"]]
        reassigned, deleted = [], []
        for product in products:
            product["asset_ids"].remove(asset_id)
            product["updated_at"] = state.time()
            if not product["asset_ids"]:
                del state.things["product"][product["id"]]
                deleted.append(product["id"])
            elif product["primary_asset_id"] == asset_id:
                product["primary_asset_id"] = product["asset_ids"][0]  # D22
                reassigned.append(product["id"])
        del state.things["asset"][asset_id]
        effects = {"reassigned_primary_product_ids": sorted(reassigned), "deleted_product_ids": sorted(deleted)}
        counted = {"object": "asset_deletion", "id": asset_id, "removed_product_memberships": len(products)}
        return Expected(200, {**counted, **effects})

    def _create_product(self, ask: Ask, team: str, meaning: Json, identify: Identify) -> Expected:
        self.state.refer("asset", meaning["asset_ids"], team)
        times = {"created_at": self.state.time(), "updated_at": self.state.time()}
        product = self.state.add("product", identify("product"), team, _copy({**meaning, **times}))
        return Expected(201, _copy(product), location=f"/products/{product['id']}")

    def _change_product(self, ask: Ask, team: str, meaning: Json, identify: Identify) -> Expected:
        product = self.state.get("product", ask.identifier, team)
        self.state.refer("asset", meaning.get("asset_ids", []), team)
        photos: list[str] = list(meaning["asset_ids"] if "asset_ids" in meaning else product["asset_ids"])
        primary = meaning.get("primary_asset_id", product["primary_asset_id"])
        if primary not in photos:
            if "primary_asset_id" in meaning:
                raise Refusal("invalid_input")  # D22
            primary = photos[0]
        product.update(meaning, asset_ids=photos, primary_asset_id=primary, updated_at=self.state.time())
        return Expected(200, _copy(product))

    def _delete_product(self, ask: Ask, team: str, meaning: Json, identify: Identify) -> Expected:
        self.state.get("product", ask.identifier, team)
        del self.state.things["product"][ask.identifier]
        return Expected(204)

    # For those who look for something to ask ----------------------------------------------------------------------------

    def ids(self, kind: str, team: str) -> list[str]:
        """Return the ids that a Team can use: its own, and the premade ones."""
        return [thing for thing in self.state.things[kind] if self.state.owner[thing] in (team, None)]

    def sessions_with_bytes(self) -> set[str]:
        """Return the Upload Sessions whose bytes wait to be exchanged."""
        sessions = self.state.things["upload"].items()
        return {name for name, one in sessions if one["is_open"] and one["file"] and self.state.now < one["expires_at"]}

    def ids_ever(self) -> list[str]:
        """Return every id that was ever given."""
        return list(self.state.owner)


def _refused(refusal: Refusal) -> Expected:
    code = refusal.code
    return Expected(STATUS_OF[code], code=code, retry_after=refusal.retry_after, active=refusal.active)


def _copy(value: Any) -> Any:
    """Return a value as it is now."""
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
