"""`cut-subjects`: more Products and Assets are asked for than one Generation takes.

Theory of operation. Five photos are packed; what exceeds them is left out of resolved_asset_ids, and the pictures are
charged without it (D32). Only what is left out for sure counts: an Asset that was asked for and is not there, or more
Products than there are photos. Further views of a Product that do not fit are no loss.
"""

from collections.abc import Iterator
from typing import Final

import orjson

from emulator.examiner.history import History
from emulator.examiner.reading import is_answered
from emulator.examiner.rules.base import KEPT, Breach, ConductRule, Verdict


def _examine(history: History) -> Iterator[Verdict]:
    for record in history.with_key:
        if not (record.is_committed and is_answered(record, 202) and record.path.endswith("/product-photography")):
            continue
        asked, admitted = orjson.loads(record.request_body or b"{}"), record.answer.get("resolved_asset_ids")
        if admitted is None:
            continue
        assets, products = asked.get("asset_ids") or (), asked.get("product_ids") or ()
        left_out = max(len(set(assets) - set(admitted)), len(products) - len(admitted))
        if left_out > 0:
            message = (
                f"{left_out} of {len(assets) + len(products)} subjects are not in the pictures: five photos are the cap"
            )
            yield Breach((record.sequence,), message)
        else:
            yield KEPT


RULE: Final = ConductRule(
    name="cut-subjects",
    severity="note",
    source="Section 4: under a five-photo cap; the response field resolved_asset_ids shows the admitted subject Assets.",
    remedy="ask for at most five subjects, and compare resolved_asset_ids with what was asked for",
    examine=_examine,
)
