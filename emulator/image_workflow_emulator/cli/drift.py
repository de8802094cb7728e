"""The command `drift`: which readings of the specification the real service has, judged by its recorded traffic."""

import asyncio
import sys
from pathlib import Path
from typing import Final

from image_workflow_emulator.cli.drift_report import FAILS_ON, as_json, content_of, fails, lines
from image_workflow_emulator.cli.failures import writable_files
from image_workflow_emulator.cli.invocation import Invocation, print_json
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.drift.judgement import judge
from image_workflow_emulator.drift.recordings import read_recordings
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.scenario.readings_format import readings_of_option
from image_workflow_emulator.settings import SettingError, UsageError
from image_workflow_emulator.testing.options import write_file

TELL_EVERY_CALLS: Final = 1_000


def drift(call: Invocation) -> int:
    """Judge which readings of the specification the service has."""
    options = call.options
    fail_on = FAILS_ON if options.fail_on is None else tuple(filter(None, options.fail_on.split(",")))
    for word in fail_on:
        if word not in FAILS_ON:
            raise SettingError("--fail-on", word, f"some of {', '.join(FAILS_ON)}, with commas between")
    known = readings_of_option(options.readings) if options.readings else NO_READINGS
    files = writable_files(options, "report", "junit", "pin")
    exchanges = read_recordings(options.files)
    report = asyncio.run(judge(exchanges, load_contract(), known, frozenset(options.ignore), _tell_progress))
    source = Path(options.files[-1]).name
    if not report.compared:
        raise UsageError(f"{source}: nothing to compare: no exchange is a call of the Image Workflow Service")
    for name, file in files.items():
        write_file(file, content_of(report, name, file.suffix, source))
    is_failure = fails(report, fail_on)
    if options.format == "json":
        print_json(as_json(report, ok=not is_failure))
    else:
        print("\n".join(map(printable, lines(report))))
    return int(is_failure)


def _tell_progress(done: int, total: int) -> None:
    """Tell at a terminal how far the judgement has come."""
    if done % TELL_EVERY_CALLS == 0 and sys.stderr.isatty():
        print(f"compared {done:,} of {total:,} calls", file=sys.stderr)
