"""The model's rules of what happens at once: uploads, Assets, Products (sections 2 to
4, D15 to D24, D45).

`identifier` is the id in the path of a request, and `meaning` its body.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.model import creative_work
from tests.model.arithmetic import UPLOAD_WINDOW, Json, timestamp
from tests.model.materials import SampleFile
from tests.model.model_state import Identify, Refusal, State

Rule = Callable[[State, str, str, Json, Identify], Json | None]
"""Does what an operation asks for, and returns the resource.

Its arguments are the state, the Team, the id in the path, the body, and what tells ids.
Raises Refusal.
"""


# Uploads ------------------------------------------------------------------------------


def open_session(
    state: State,
    team: str,
    identifier: str,
    meaning: Json,
    identify: Identify,
) -> Json:
    state.check_before_commit(team)
    session_id = identify("upload")
    expires_at = state.now + UPLOAD_WINDOW
    state.owner[session_id] = team
    state.resources["upload"][session_id] = {
        "type": meaning["content_type"],
        "size": meaning["size_bytes"],
        "file": None,
        "expires_at": expires_at,
        "is_open": True,
    }
    return {
        "object": "upload",
        "id": session_id,
        "status": "awaiting_upload",
        "method": "POST",
        "expires_at": timestamp(expires_at),
    }


def take_bytes(
    state: State,
    session_id: str,
    file: SampleFile,
) -> None:
    """Take the bytes of a session, sent with all of its headers (section 4, D16, D45).

    Raises Refusal.
    """
    session = state.resources["upload"][session_id]
    if state.now >= session["expires_at"]:
        _check_open(state, session)
    taken = session["file"]
    if taken is None and len(file.data) != session["size"]:
        raise Refusal("invalid_request")
    if taken is not None and taken.data != file.data:
        raise Refusal("upload_bytes_conflict")
    _check_open(state, session)
    session["file"] = file


def _check_open(state: State, session: Json) -> None:
    if not session["is_open"]:
        raise Refusal("upload_not_found")
    if state.now >= session["expires_at"]:
        raise Refusal("upload_expired")


def complete(
    state: State,
    team: str,
    identifier: str,
    meaning: Json,
    identify: Identify,
) -> Json:
    session = state.get("upload", identifier, team)
    _check_open(state, session)
    file = session["file"]
    if file is None or meaning["upload_token"] != session.get("token"):
        raise Refusal("invalid_input")
    state.check_before_commit(team)
    session["is_open"] = False
    if file.holds != session["type"]:
        raise Refusal("invalid_input")
    width, height = file.size
    picture = {"format": file.format, "width": width, "height": height}
    asset_id = identify("asset")
    return creative_work.add_asset(state, team, asset_id, None, file.scene, picture)


# The Library --------------------------------------------------------------------------


def delete_asset(
    state: State,
    team: str,
    identifier: str,
    meaning: Json,
    identify: Identify,
) -> Json:
    state.get("asset", identifier, team)
    creative_work.check_idle(state, identifier)
    state.check_before_commit(team)
    products = [
        product
        for product in state.of_team("product", team)
        if identifier in product["asset_ids"]
    ]
    reassigned = []
    deleted = []
    for product in products:
        product["asset_ids"].remove(identifier)
        product["updated_at"] = state.time()
        if not product["asset_ids"]:
            del state.resources["product"][product["id"]]
            deleted.append(product["id"])
        elif product["primary_asset_id"] == identifier:
            product["primary_asset_id"] = product["asset_ids"][0]  # D22
            reassigned.append(product["id"])
    del state.resources["asset"][identifier]
    return {
        "object": "asset_deletion",
        "id": identifier,
        "removed_product_memberships": len(products),
        "reassigned_primary_product_ids": sorted(reassigned),
        "deleted_product_ids": sorted(deleted),
    }


def create_product(
    state: State,
    team: str,
    identifier: str,
    meaning: Json,
    identify: Identify,
) -> Json:
    state.refer("asset", meaning["asset_ids"], team)
    state.check_before_commit(team)
    fields = {
        **meaning,
        "asset_ids": list(meaning["asset_ids"]),
        "created_at": state.time(),
        "updated_at": state.time(),
    }
    return state.add("product", identify("product"), team, fields)


def change_product(
    state: State,
    team: str,
    identifier: str,
    meaning: Json,
    identify: Identify,
) -> Json:
    product = state.get("product", identifier, team)
    state.refer("asset", meaning.get("asset_ids", []), team)
    photos = list(product["asset_ids"])
    if "asset_ids" in meaning:
        photos = list(meaning["asset_ids"])
    primary = meaning.get("primary_asset_id", product["primary_asset_id"])
    if primary not in photos:
        if "primary_asset_id" in meaning:
            raise Refusal("invalid_input")  # D22
        primary = photos[0]
    state.check_before_commit(team)
    product.update(meaning)
    product["asset_ids"] = photos
    product["primary_asset_id"] = primary
    product["updated_at"] = state.time()
    return product


def delete_product(
    state: State,
    team: str,
    identifier: str,
    meaning: Json,
    identify: Identify,
) -> None:
    state.get("product", identifier, team)
    state.check_before_commit(team)
    del state.resources["product"][identifier]


@dataclass(frozen=True, slots=True)
class LibraryOperation:
    """An operation that is done at once."""

    status: int
    """That of success."""
    rule: Rule
    located_in: str | None = None
    """Collection in the Location of the answer (D38)."""


OPERATIONS: dict[str, LibraryOperation] = {
    "createUpload": LibraryOperation(201, open_session),
    "completeUpload": LibraryOperation(201, complete, located_in="assets"),
    "deleteAsset": LibraryOperation(200, delete_asset),
    "createProduct": LibraryOperation(201, create_product, located_in="products"),
    "updateProduct": LibraryOperation(200, change_product),
    "deleteProduct": LibraryOperation(204, delete_product),
}
