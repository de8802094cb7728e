"""Remedies in the words of the library that a client names in its User-Agent."""

from collections.abc import Mapping
from typing import Final

WAITING: Final = ("retry-before-retry-after", "no-backoff", "retries-without-end", "gave-up-on-retryable")
"""The rules that a retry policy breaks."""
_WORDS: Final[Mapping[str, str]] = {
    "tenacity": "retry(wait=wait_random_exponential(max=60), stop=stop_after_attempt(8)), with a wait that reads Retry-After",
    "stamina": "stamina.retry(on=hook, attempts=8), where the hook returns the Retry-After of the answer",
    "python-requests": "HTTPAdapter(max_retries=Retry(8, backoff_factor=1, backoff_jitter=1, status_forcelist=[429, 500, 503], "
    "allowed_methods=None)); Retry respects Retry-After",
    "python-urllib3": "Retry(8, backoff_factor=1, backoff_jitter=1, status_forcelist=[429, 500, 503], allowed_methods=None)",
    "python-httpx": "HTTPTransport(retries=...) repeats connections alone: use httpx-retries, RetryTransport(retry=Retry(total=8, "
    "backoff_factor=0.5))",
    "aiohttp": "aiohttp-retry, RetryClient(retry_options=JitterRetry(attempts=8)), with its get_timeout reading Retry-After",
    "got": "retry: {limit: 8, methods: ['GET', 'POST', 'PATCH', 'DELETE'], statusCodes: [429, 500, 503]}; got reads Retry-After",
    "ky": "retry: {limit: 8, methods: ['get', 'post', 'patch', 'delete'], jitter: true}; ky reads Retry-After",
    "axios": "axios-retry(axios, {retries: 8, retryDelay: axiosRetry.exponentialDelay, retryCondition: ...}); its default "
    "pause is none",
    "undici": "new RetryAgent(agent, {maxRetries: 8, methods: ['GET', 'POST', 'PATCH', 'DELETE'], statusCodes: [429, 500, 503]})",
    "okhttp": "an Interceptor that waits as Retry-After says; OkHttp repeats 503 only with Retry-After: 0",
    "resilience4j": "RetryConfig.custom().maxAttempts(8).intervalFunction(ofExponentialRandomBackoff(500, 2.0))",
}


def in_words_of(user_agent: str | None, rule: str, remedy: str) -> str:
    """Return a remedy, for rules that a retry policy breaks with the words of the library that the User-Agent names."""
    products = {word.partition("/")[0].lower() for word in (user_agent or "").split()}
    library = next((name for name in _WORDS if name in products), None) if rule in WAITING else None
    return remedy if library is None else f"{remedy}; with {library}: {_WORDS[library]}"
