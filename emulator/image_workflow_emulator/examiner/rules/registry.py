"""The rules of conduct with their words, what costs money or data first, as they are reported."""

from typing import Final

from image_workflow_emulator.examiner.rules import keys, refusals, results, retries
from image_workflow_emulator.examiner.rules.rule import ConductRule

_SAME_KEY: Final = (
    "Section 4: Same key and same intent: the original admission status, headers and body are replayed exactly and work is "
    "not restarted."
)
_ONE_KEY: Final = (
    "make one Idempotency-Key for each intent, and send it with every attempt, also after a timeout of your own: a timeout "
    "does not say whether the request was carried out"
)
_BACKOFF: Final = "Section 8: Clients must honor Retry-After on 429 and use exponential backoff with jitter."

RULES: Final[tuple[ConductRule, ...]] = (
    ConductRule(keys.double_spend, _SAME_KEY, _ONE_KEY, "error"),
    ConductRule(keys.write_retried_with_new_key, _SAME_KEY, _ONE_KEY),
    ConductRule(
        keys.credential_sent_to_bytes,
        "Section 5, rule 7: The direct-upload URL is not authenticated with the credential; the credential must never "
        "be sent to it. Asset URLs are downloadable without the credential.",
        "use a client without default headers, cookies and parameters for upload.url and for the urls of Assets",
        "error",
    ),
    ConductRule(
        keys.credential_in_request,
        "Section 5, rule 1: Every request carries Authorization: Bearer <API_KEY>.",
        "send the credential in the header Authorization alone, and make Idempotency-Keys of random UUIDs",
        "error",
    ),
    ConductRule(
        keys.key_not_sent_again,
        _SAME_KEY,
        "send the same request with the same Idempotency-Key until its answer is known",
    ),
    ConductRule(
        keys.key_reused,
        "Section 4: Same key with different intent: 422 idempotency_key_reused.",
        "make a new Idempotency-Key for each intent, such as a random UUID",
    ),
    ConductRule(
        keys.key_after_retention,
        "Section 4: Idempotency records are kept at least 24 hours.",
        "finish repeating a write within 24 hours; after that, look first whether it was carried out",
    ),
    ConductRule(
        retries.retry_before_retry_after,
        _BACKOFF,
        "wait as long as Retry-After says, then send the same request, a write with the same Idempotency-Key",
        is_timed=True,
    ),
    ConductRule(
        retries.poll_before_retry_after,
        "Section 6: Progress is observed by polling until status is completed or failed, honoring Retry-After when "
        "present.",
        "wait as long as the Retry-After of the last look says before the next",
        is_timed=True,
    ),
    ConductRule(
        retries.no_backoff,
        _BACKOFF,
        "double the pause with every failure, add jitter, and stop after a few",
        is_timed=True,
    ),
    ConductRule(
        refusals.retry_of_the_hopeless,
        "Section 7, recovery: supply a valid credential; add Credits; treat as unavailable; correct the fields.",
        "do what the code asks for first, or tell who can; do not send the same request again",
    ),
    ConductRule(
        refusals.goes_on_after_refusal,
        "Section 7, recovery: supply a valid credential; add Credits, submit a new logical request; use a full credential "
        "for writes; restore the Subscription.",
        "stop the batch at the first 401, 402 or 403, and go on when what it asks for was done",
    ),
    ConductRule(
        retries.retries_without_end,
        "Section 7: internal_error, retry transient failures; service_unavailable and rate_limited, honor Retry-After.",
        "limit the number of attempts and their time, keep the Idempotency-Key, and tell somebody when they are used up",
    ),
    ConductRule(
        retries.gave_up_on_retryable,
        "Section 7: service_unavailable, honor Retry-After; rate_limited, honor Retry-After, retry with backoff.",
        "wait as long as Retry-After says and send the request again, a write with the same Idempotency-Key",
    ),
    ConductRule(
        retries.list_polled,
        "Section 6: Progress of asynchronous work is observed by polling GET /operations/{operation_id} and "
        "GET /generations/{generation_id}.",
        "poll each piece of work by its id, as its Retry-After says",
    ),
    ConductRule(
        refusals.upload_after_window,
        "Section 4: A session past its window yields 410 upload_expired.",
        "send the bytes and complete before upload.expires_at; when it has passed, create a new session",
    ),
    ConductRule(
        results.abandoned_work,
        "Section 6: Progress of asynchronous work is observed by polling until status is completed or failed.",
        "poll admitted work until it is completed or failed, as Retry-After says",
    ),
    ConductRule(
        refusals.cursor_with_other_filters,
        "Section 4: An invalid or filter-mismatched cursor yields 400 invalid_cursor.",
        "send a cursor with the filters of the list that gave it; begin anew, without one, where they change",
    ),
    ConductRule(
        refusals.use_after_sunset,
        "Section 9: Planned removal adds a Sunset header (HTTP-date).",
        "follow the migration guide that the Link header names before the Sunset",
    ),
    ConductRule(
        retries.poll_after_terminal,
        "Section 3: Completed and failed are terminal.",
        "stop polling once status is completed or failed, and keep what the last look showed",
        "note",
    ),
    ConductRule(
        results.abandoned_upload,
        "Section 1: a client creates an Upload Session, sends raw bytes directly to a short-lived signed URL, and "
        "exchanges the returned upload token for an Asset.",
        "complete each Upload Session with the token that its upload returned",
        "note",
    ),
    ConductRule(keys.hedged, _SAME_KEY, "if both were one wish, send it twice with the same Idempotency-Key", "note"),
    ConductRule(
        results.unfetched_pictures,
        "Section 4: Only completed outputs are charged.",
        "go through all outputs of a Generation, and fetch each that is completed",
        "note",
    ),
    ConductRule(
        results.cut_subjects,
        "Section 4: under a five-photo cap; the response field resolved_asset_ids shows the admitted subject Assets.",
        "ask for at most five subjects, and compare resolved_asset_ids with what was asked for",
        "note",
    ),
)
