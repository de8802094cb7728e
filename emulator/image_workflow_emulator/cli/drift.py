"""The command `drift`: which readings of the specification the real service has, judged by its recorded traffic.

Three ways into `drift`: recordings that are judged offline, `record`, which makes one, and `--base-url`, which runs the probes.
"""

import asyncio
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from image_workflow_emulator.cli.drift_report import FAILS_ON, as_json, content_of, fails, lines
from image_workflow_emulator.cli.failures import writable_files
from image_workflow_emulator.cli.invocation import Invocation, print_json
from image_workflow_emulator.contract import load_contract
from image_workflow_emulator.domain.readings import NO_READINGS
from image_workflow_emulator.drift.judgement import judge
from image_workflow_emulator.drift.probes import ProbedService, probes_within
from image_workflow_emulator.drift.recorder import Recorder
from image_workflow_emulator.drift.recordings import read_recordings
from image_workflow_emulator.drift.secrets import SurvivorError, scrubbed_har
from image_workflow_emulator.kernel.printable import printable
from image_workflow_emulator.scenario.readings_format import readings_of_option
from image_workflow_emulator.settings import CommandError, SettingError, UsageError
from image_workflow_emulator.testing.options import write_file
from image_workflow_emulator.traffic.exchanges import RecordedExchange

BASE_URL_VARIABLE: Final = "IMAGE_WORKFLOW_BASE_URL"
API_KEY_VARIABLE: Final = "IMAGE_WORKFLOW_API_KEY"
TELL_EVERY_CALLS: Final = 1_000


def drift(call: Invocation) -> int:
    """Judge which readings of the specification the service has."""
    options, environment = call.options, call.environment
    if options.files[:1] == ["record"]:
        return _record(options, environment)
    fail_on = FAILS_ON if options.fail_on is None else tuple(filter(None, options.fail_on.split(",")))
    for word in fail_on:
        if word not in FAILS_ON:
            raise SettingError("--fail-on", word, f"some of {', '.join(FAILS_ON)}, with commas between")
    if bool(options.files) == bool(options.base_url):
        raise UsageError("drift: give recordings, or --base-url of a service to ask")
    known = readings_of_option(options.readings) if options.readings else NO_READINGS
    files = writable_files(options, "report", "junit", "pin")
    exchanges = _asked(options, environment) if options.base_url else read_recordings(options.files)
    report = asyncio.run(judge(exchanges, load_contract(), known, frozenset(options.ignore), _tell_progress))
    source = options.base_url or Path(options.files[-1]).name
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


# A service that is asked ----------------------------------------------------------------------------------------------


def _asked(options: Namespace, environment: Mapping[str, str]) -> list[RecordedExchange]:
    """Run the probes and return what was exchanged, which is kept as a HAR too. Raises RecordingError, UsageError."""
    key = options.api_key or environment.get(API_KEY_VARIABLE)
    if not key:
        raise UsageError(f"drift: --base-url needs a key: give --api-key, or set {API_KEY_VARIABLE}")
    files = writable_files(options, "out")
    service = ProbedService(_base_url("--base-url", options.base_url), key, load_contract(), time.sleep)  # noqa: TID251 (a real service)
    for probe in probes_within(options.spend):
        print(f"{', '.join(probe.decisions)}: {probe.summary}", file=sys.stderr)
        try:
            probe.run(service)
        except (KeyError, TypeError) as error:
            print(f"  the service did not answer as this probe needs ({error})", file=sys.stderr)
    if "out" in files:
        _keep(files["out"], service.exchanges, options.base_url, keep_text=options.keep_text)
    return service.exchanges


def _base_url(flag: str, url: str | None) -> str:
    if not url or not url.startswith(("http://", "https://")) or not url.rstrip("/").endswith("/v1"):
        raise SettingError(flag, url or "", "the base URL of the service, which ends in /v1")
    return url.rstrip("/")


# Recording ------------------------------------------------------------------------------------------------------------


def _record(options: Namespace, environment: Mapping[str, str]) -> int:
    """Record what a command sends, or until interrupted; return the command's status."""
    target = _base_url("--target", options.target)
    if options.out is None:
        raise UsageError("drift record: give --out FILE.har")
    file = writable_files(options, "out")["out"]
    recorder = Recorder(target)
    try:
        status = _run(recorder, options.words, environment)
    finally:
        recorder.close()
        _keep(file, recorder.exchanges, target, keep_text=options.keep_text)
    return status


def _run(recorder: Recorder, words: Sequence[str], environment: Mapping[str, str]) -> int:
    print(f"recording; the base URL is {recorder.base_url}", file=sys.stderr)
    try:
        if not words:
            while True:
                time.sleep(3600)  # noqa: TID251 (until somebody interrupts)
        return subprocess.call(words, env={**environment, BASE_URL_VARIABLE: recorder.base_url})  # noqa: S603
    except KeyboardInterrupt:
        return 0 if not words else 130
    except OSError as error:
        raise CommandError(f"{words[0]}: {error.strerror}") from None


def _keep(file: Path, exchanges: Sequence[RecordedExchange], base_url: str, *, keep_text: bool) -> None:
    """Write what may be kept of a recording. Raises CommandError, UsageError."""
    try:
        # A key of this run, which nobody knows.
        content = scrubbed_har(exchanges, os.urandom(32), base_url, keep_text=keep_text)  # noqa: TID251
    except SurvivorError as error:
        raise CommandError(f"drift record: {error}") from None
    write_file(file, content)
    print(f"wrote {len(exchanges)} exchanges to {file}", file=sys.stderr)
