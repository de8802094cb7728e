"""The rules of conduct, in the order in which they are reported."""

from typing import Final

from emulator.examiner.rules import (
    abandoned_upload,
    abandoned_work,
    credential_sent_to_bytes,
    cursor_with_other_filters,
    gave_up_on_retryable,
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
    retry_before_retry_after.RULE,
    poll_before_retry_after.RULE,
    poll_after_terminal.RULE,
    no_backoff.RULE,
    retry_of_the_hopeless.RULE,
    gave_up_on_retryable.RULE,
    key_not_sent_again.RULE,
    write_retried_with_new_key.RULE,
    write_retried_with_new_key.DOUBLE_SPEND_RULE,
    key_reused.RULE,
    credential_sent_to_bytes.RULE,
    upload_after_window.RULE,
    abandoned_upload.RULE,
    abandoned_work.RULE,
    cursor_with_other_filters.RULE,
    use_after_sunset.RULE,
)
