"""Which running emulator a command speaks to, and which of its sandboxes."""

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping
from urllib.parse import urlsplit

from emulator.settings import DEFAULT_PORT, DEFAULT_URL, SettingError, parse_url
from emulator.testing.control import ControlPlane, HttpTransport

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


def add_connection(parser: ArgumentParser) -> None:
    """Give a command, or a verb of one, the options that say whom it speaks to."""
    # Without a default, so that a verb does not take away what stands before it.
    parser.add_argument(
        "--url",
        metavar="URL",
        default=SUPPRESS,
        help=f"a running emulator (default: EMULATOR_URL, else EMULATOR_HOST and EMULATOR_PORT, else {DEFAULT_URL})",
    )
    parser.add_argument(
        "--sandbox",
        metavar="ID",
        default=SUPPRESS,
        help="which of its sandboxes (default: EMULATOR_SANDBOX, else default)",
    )
    parser.add_argument(
        "--control-token",
        metavar="TOKEN",
        default=SUPPRESS,
        help="its control token (default: EMULATOR_CONTROL_TOKEN)",
    )


def control_plane(options: Namespace, environment: Mapping[str, str]) -> ControlPlane:
    """Return the control plane that a command is to speak to. Raises SettingError."""
    given = vars(options)
    name, url = ("--url", given["url"]) if "url" in given else _address(environment)
    try:
        url = parse_url(url)
        _ = urlsplit(url).port
    except ValueError:
        raise SettingError(name, url, f"the address of a running emulator, such as {DEFAULT_URL}") from None
    token = given.get("control_token") or environment.get("EMULATOR_CONTROL_TOKEN")
    return ControlPlane(HttpTransport(url), token, given.get("sandbox") or environment.get("EMULATOR_SANDBOX"))


def _address(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the address that the environment names, and the variable that does."""
    if environment.get("EMULATOR_URL"):
        return "EMULATOR_URL", environment["EMULATOR_URL"]
    host, port = environment.get("EMULATOR_HOST"), environment.get("EMULATOR_PORT")
    if not host and not port:
        return "--url", DEFAULT_URL
    host = _ANY_ADDRESS.get(host or "", host or "127.0.0.1")
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return "EMULATOR_PORT" if port else "EMULATOR_HOST", f"http://{host}:{port or DEFAULT_PORT}"
