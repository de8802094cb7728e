"""Remedies come in the words of the library that a client names in its User-Agent."""

import pytest

from image_workflow_emulator.examiner.library_words import in_words_of


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        ("python-requests/2.32.3", "HTTPAdapter"),
        ("Python/3.11 aiohttp/3.9.5", "aiohttp-retry"),
        ("okhttp/4.12.0", "Interceptor"),
        ("got (https://github.com/sindresorhus/got)", "retry: {limit: 8"),
        ("shop/1.0 tenacity/9", "wait_random_exponential"),
    ],
)
def test_a_remedy_for_retries_names_what_the_library_calls_it(user_agent: str, words: str) -> None:
    assert words in in_words_of(user_agent, "no-backoff", "wait")


def test_other_remedies_and_unknown_clients_keep_the_plain_words() -> None:
    assert "wait" == in_words_of("shop/1.0", "no-backoff", "wait") == in_words_of("okhttp/4", "key-reused", "wait")
