"""The rules of conduct, what costs money or data first, as they are reported."""

from typing import Final

from emulator.examiner.rules import (
    abandoned_upload,
    abandoned_work,
    credential_in_request,
    credential_sent_to_bytes,
    cursor_with_other_filters,
    gave_up_on_retryable,
    hedged,
    key_after_retention,
    key_not_sent_again,
    key_reused,
    no_backoff,
    poll_after_terminal,
    poll_before_retry_after,
    retry_before_retry_after,
    retry_of_the_hopeless,
    upload_after_window,
    use_after_sunset,
    write_retried_with_new_key,
)
from emulator.examiner.rules.base import ConductRule

RULES: Final[tuple[ConductRule, ...]] = (
    write_retried_with_new_key.DOUBLE_SPEND_RULE,
    write_retried_with_new_key.RULE,
    credential_sent_to_bytes.RULE,
    credential_in_request.RULE,
    key_not_sent_again.RULE,
    key_reused.RULE,
    key_after_retention.RULE,
    retry_before_retry_after.RULE,
    poll_before_retry_after.RULE,
    no_backoff.RULE,
    retry_of_the_hopeless.RULE,
    gave_up_on_retryable.RULE,
    upload_after_window.RULE,
    abandoned_work.RULE,
    cursor_with_other_filters.RULE,
    use_after_sunset.RULE,
    poll_after_terminal.RULE,
    abandoned_upload.RULE,
    hedged.RULE,
)
