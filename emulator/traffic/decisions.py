"""The decisions that have readings, each with what a recording shows of it: the one table of observations."""

from collections.abc import Mapping
from typing import Final

from emulator.traffic.observations import answers, library, requests, uploads, work
from emulator.traffic.observations.base import Observe

OBSERVATIONS: Final[Mapping[str, Observe]] = {
    "D02": requests.page_limit,
    "D04": requests.text_length,
    "D10": requests.key_binding,
    "D12": requests.key_retention,
    "D14": requests.sameness,
    "D15": uploads.upload_session,
    "D16": uploads.upload_status,
    "D18": uploads.stored_format,
    "D19": uploads.file_delivery,
    "D22": library.photo_order,
    "D26": library.last_page,
    "D27": work.target,
    "D29": work.team_credits,
    "D31": work.error_members,
    "D32": work.subject_cap,
    "D33": work.defaults,
    "D35": work.pixel_sizes,
    "D37": work.partial_charge,
    "D40": work.concurrency_unit,
    "D42": answers.poll_hint,
    "D57": uploads.picture_limit,
    "D66": answers.pause_hint,
    "D70": answers.location,
    "D71": work.first_status,
    "D72": answers.media_types,
    "D73": answers.timestamps,
    "D74": library.list_freshness,
    "D76": work.slot_order,
}
