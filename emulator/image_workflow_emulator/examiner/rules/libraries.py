"""The words of HTTP libraries for a retry policy.

They are added to the remedies of the rules that such a policy keeps. What stands before
the first semicolon is code, which tests/clients/retries try out.
"""

from collections.abc import Mapping
from typing import Final

LIBRARIES: Final[Mapping[str, str]] = {
    "python-requests": (
        "HTTPAdapter(max_retries=Retry(8, backoff_factor=1, backoff_jitter=1, "
        "status_forcelist=[429, 500, 503], allowed_methods=None)); "
        "an answer that breaks off is not repeated"
    ),
    "python-urllib3": (
        "Retry(8, backoff_factor=1, backoff_jitter=1, "
        "status_forcelist=[429, 500, 503], allowed_methods=None)"
    ),
    "python-httpx": (
        "RetryTransport(retry=Retry(8, ['GET', 'POST', 'PATCH', 'DELETE'], "
        "[429, 500, 503], backoff_factor=1)); of httpx-retries, "
        "since HTTPTransport(retries=...) repeats connections alone"
    ),
    "aiohttp": (
        "JitterRetry(attempts=8, statuses={429}, "
        "exceptions={aiohttp.ClientError, TimeoutError}); of aiohttp-retry, "
        "for a RetryClient, with a get_timeout that returns Retry-After"
    ),
    "got": (
        "retry: {limit: 8, methods: ['GET', 'POST', 'PATCH', 'DELETE'], "
        "statusCodes: [429, 500, 503], maxRetryAfter: 120_000}; "
        "without maxRetryAfter, got waits no longer than timeout.request"
    ),
    "axios": (
        "axiosRetry(axios, {retries: 8, retryDelay: axiosRetry.exponentialDelay, "
        "shouldResetTimeout: true, retryCondition: e => !e.response || "
        "[429, 500, 503].includes(e.response.status)}); its default pause is none"
    ),
    "undici": (
        "new RetryAgent(agent, {maxRetries: 8, "
        "methods: ['GET', 'POST', 'PATCH', 'DELETE'], "
        "statusCodes: [429, 500, 503], maxTimeout: 120_000}); "
        "it waits no longer than maxTimeout"
    ),
    "okhttp": (
        "an Interceptor that repeats 429, 500 and 503, waits as Retry-After says, "
        "and closes each answer before the next; "
        "OkHttp itself repeats an answer 503 only with Retry-After: 0"
    ),
}
"""By the product that a library names in its User-Agent."""


def retry_policy_for(user_agent: str | None) -> str | None:
    """Return the words of the library that a User-Agent names, with its product."""
    if user_agent is None:
        return None
    products = {word.partition("/")[0].lower() for word in user_agent.split()}
    for product, policy in LIBRARIES.items():
        if product in products:
            return f"with {product}: {policy}"
    return None
