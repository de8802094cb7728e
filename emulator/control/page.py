"""The page of the control plane: where the service is, its keys, and what else can be looked at. Loads nothing."""

from html import escape
from typing import Final

from starlette.responses import HTMLResponse

from emulator import __version__
from emulator.contract import BASE_PATH
from emulator.control.calls import Call
from emulator.control.clock import describe_clock
from emulator.control.teams import describe_teams

LINKS: Final = (
    ("/_emulator/contract.yaml", "the machine-readable contract (also as .json)"),
    ("/_emulator/clock", "the clock"),
    ("/_emulator/teams", "Teams and credentials"),
    ("/_emulator/scenario", "the running scenario"),
    ("/_emulator/scenarios", "the library of scenarios"),
    ("/_emulator/requests", "the journal: what was asked, answered, and why"),
    ("/_emulator/sandboxes", "all sandboxes"),
    ("/_emulator/health", "health and versions"),
)

_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Image Workflow Emulator</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.4rem; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; }}
code {{ font: .95em ui-monospace, monospace; }}
</style>
</head>
<body>
<h1>Image Workflow Emulator {version}</h1>
<p>Base URL <code>{base_url}</code></p>
<p>Clock <code>{now}</code>, {mode}; events to come: {pending}</p>
<h2>Keys</h2>
<table>
<thead><tr><th>Team</th><th>Credits</th><th>Subscription</th><th>Key</th><th>Profile</th><th>State</th></tr></thead>
<tbody>
{keys}
</tbody>
</table>
<h2>To look at</h2>
<ul>
{links}
</ul>
</body>
</html>
"""


def show_page(call: Call) -> HTMLResponse:
    """GET /_emulator."""
    clock = describe_clock(call.sandbox, call.now)
    mode = clock["mode"] if clock["rate"] == 1 else f"{clock['mode']}, {clock['rate']} times as fast"
    page = _PAGE.format(
        version=escape(__version__),
        base_url=escape(call.origin + BASE_PATH),
        now=clock["now"],
        mode=mode,
        pending=clock["pending"],
        keys="\n".join(_key_rows(call)),
        links="\n".join(f'<li><a href="{path}"><code>{path}</code></a> {escape(what)}</li>' for path, what in LINKS),
    )
    return HTMLResponse(page, headers=_HEADERS)


def _key_rows(call: Call) -> list[str]:
    rows = []
    now = describe_clock(call.sandbox, call.now)["now"]
    for team in describe_teams(call.sandbox):
        for credential in team["credentials"]:
            # Timestamps of one form are ordered as texts.
            state = "expired" if credential["expires_at"] <= now else credential["state"]
            cells = (
                team["name"],
                team["credits"],
                team["subscription"],
                credential["key"],
                credential["profile"],
                state,
            )
            rows.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
    return rows
