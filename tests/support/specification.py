"""Tables of the specification that several tests hold against what the emulator has."""

from collections.abc import Mapping
from typing import Final

STATUSES: Final[Mapping[str, int]] = {
    code: status
    for status, codes in {
        400: "invalid_request invalid_cursor",
        401: "authentication_required credential_expired credential_revoked",
        402: "insufficient_credits",
        403: "permission_denied subscription_required",
        404: "not_found upload_not_found asset_not_found product_not_found",
        409: "idempotency_in_progress resource_operation_in_progress upload_bytes_conflict",
        410: "upload_expired",
        422: "invalid_input invalid_reference idempotency_key_reused already_at_target_resolution",
        429: "concurrency_limit_reached rate_limited",
        503: "service_unavailable",
        500: "internal_error",
    }.items()
    for code in codes.split()
}
"""Section 7: each of the 24 codes, with its status. 405 and 413 come with invalid_request (D03, D06)."""
