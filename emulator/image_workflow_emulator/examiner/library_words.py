"""Remedies in the words of the library that a client names in its User-Agent."""

from collections.abc import Mapping
from typing import Final

WAITING: Final = ("retry-before-retry-after", "no-backoff", "retries-without-end", "gave-up-on-retryable")
"""The rules that a retry policy breaks."""
WORDS: Final[Mapping[str, str]] = {
    "tenacity": "retry(wait=wait_exception(retry_after) + wait_random_exponential(max=60), stop=stop_after_attempt(8)); "
    "retry_after takes the header from the error",
    "stamina": "stamina.retry(on=hook, attempts=8, timeout=None); the hook returns the Retry-After of the error, or True",
    "python-requests": "HTTPAdapter(max_retries=Retry(8, backoff_factor=1, backoff_jitter=1, status_forcelist=[429, 500, 503], "
    "allowed_methods=None)); an answer that breaks off is not repeated",
    "python-urllib3": "Retry(8, backoff_factor=1, backoff_jitter=1, status_forcelist=[429, 500, 503], allowed_methods=None)",
    "python-httpx": "RetryTransport(retry=Retry(8, ['GET', 'POST', 'PATCH', 'DELETE'], [429, 500, 503], backoff_factor=1)); "
    "of httpx-retries, since HTTPTransport(retries=...) repeats connections alone",
    "aiohttp": "JitterRetry(attempts=8, statuses={429}, exceptions={aiohttp.ClientError, TimeoutError}); of aiohttp-retry, "
    "for a RetryClient, with a get_timeout that returns Retry-After",
    "got": "retry: {limit: 8, methods: ['GET', 'POST', 'PATCH', 'DELETE'], statusCodes: [429, 500, 503], "
    "maxRetryAfter: 120_000}; without maxRetryAfter, got waits no longer than timeout.request",
    "ky": "retry: {limit: 8, methods: ['get', 'post', 'patch', 'delete'], jitter: true}",
    "axios": "axiosRetry(axios, {retries: 8, retryDelay: axiosRetry.exponentialDelay, shouldResetTimeout: true, "
    "retryCondition: e => !e.response || [429, 500, 503].includes(e.response.status)}); its default pause is none",
    "undici": "new RetryAgent(agent, {maxRetries: 8, methods: ['GET', 'POST', 'PATCH', 'DELETE'], "
    "statusCodes: [429, 500, 503], maxTimeout: 120_000}); it waits no longer than maxTimeout",
    "okhttp": "an Interceptor that repeats 429, 500 and 503, waits as Retry-After says, and closes each answer before the "
    "next; OkHttp itself repeats an answer 503 only with Retry-After: 0",
    "resilience4j": "RetryConfig.custom().maxAttempts(8).intervalBiFunction(wait); wait returns Retry-After in milliseconds, or "
    "what ofExponentialRandomBackoff(500, 2.0) says; an answer that is no exception needs retryOnResult",
}
"""By product in the User-Agent; what stands before the first semicolon is code, which tests/clients/retries try out."""


def in_words_of(user_agent: str | None, rule: str, remedy: str) -> str:
    """Return a remedy, for rules that a retry policy breaks with the words of the library that the User-Agent names."""
    products = {word.partition("/")[0].lower() for word in (user_agent or "").split()}
    library = next((name for name in WORDS if name in products), None) if rule in WAITING else None
    return remedy if library is None else f"{remedy}; with {library}: {WORDS[library]}"
