"""The observation of each decision. A test binds it to `domain.readings`."""

from collections.abc import Mapping
from typing import Final

from image_workflow_emulator.drift.observations import (
    answers,
    keys,
    library,
    team,
    work,
)
from image_workflow_emulator.drift.observations.observation import Observe

OBSERVATIONS: Final[Mapping[str, Observe]] = {
    "D02": keys.page_limit,
    "D04": keys.text_length,
    "D10": keys.key_binding,
    "D12": keys.key_retention,
    "D14": keys.intent,
    "D15": library.upload_session,
    "D16": library.upload_status,
    "D18": library.stored_format,
    "D19": library.file_delivery,
    "D22": library.photo_order,
    "D26": library.last_page,
    "D27": work.target,
    "D29": team.team_credits,
    "D31": answers.error_members,
    "D32": work.subject_cap,
    "D33": work.defaults,
    "D35": work.pixel_sizes,
    "D37": work.partial_charge,
    "D40": team.concurrency_unit,
    "D42": answers.poll_hint,
    "D57": library.picture_limit,
    "D66": answers.pause_hint,
    "D70": answers.location,
    "D71": work.first_status,
    "D72": answers.media_types,
    "D73": answers.timestamps,
    "D74": library.list_freshness,
    "D76": work.slot_order,
}
"""What observes each decision that has readings, in the order of the ledger."""
