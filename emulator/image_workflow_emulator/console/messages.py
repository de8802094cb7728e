"""What a command says when it cannot do its work: a line for people, and an object for
programs.
"""

import contextlib
import json
import re
from typing import Final

import click

from image_workflow_emulator.kernel.wording import printable

_LINE: Final = re.compile(r"^(?:(.+?:\d+(?::\d+)?): )?(.+)", re.MULTILINE)
"""A line of a complaint: the place in a file that it may begin with, and the words."""


def complain(message: str) -> None:
    """Print each line of a message to standard error, if somebody reads it."""
    with contextlib.suppress(OSError):
        for line in message.split("\n"):
            click.echo(f"image-workflow-emulator: {printable(line)}", err=True)


def print_refusal(message: str, code: str) -> None:
    """Print a complaint as a report for programs: each line is a finding."""
    findings = []
    for where, words in _LINE.findall(message):
        finding = {
            "rule": code,
            "severity": "error",
            "where": where or None,
            "message": words,
            "remedy": None,
            "command": None,
        }
        findings.append(finding)
    refusal = {"ok": False, "summary": message, "findings": findings, "next": []}
    click.echo(json.dumps(refusal, separators=(",", ":")))
