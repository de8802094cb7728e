"""The command about coverage: merges that of several runs, shows it, and holds it to a threshold."""

import json

from image_workflow_emulator.cli.failures import writable_files
from image_workflow_emulator.cli.invocation import Invocation
from image_workflow_emulator.cli.verdict import coverage_verdict
from image_workflow_emulator.examiner.coverage import Coverage, merged, read, rows
from image_workflow_emulator.examiner.coverage_page import coverage_page
from image_workflow_emulator.kernel.wording import first_of
from image_workflow_emulator.settings import UsageError
from image_workflow_emulator.testing.options import read_file, write_file

_MAX_GAPS = 3


def coverage(call: Invocation) -> int:
    """Merge files and show what they cover."""
    options = call.options
    files = writable_files(options, "html")
    whole = merged([_read_coverage(name) for name in options.files])
    if "html" in files:
        write_file(files["html"], coverage_page(whole))
    shown = [(name, f"{met}/{of}", first_of(gaps, _MAX_GAPS) or None) for name, met, of, gaps in rows(whole)]
    is_low = options.fail_under is not None and whole["percent"] < options.fail_under
    answer = coverage_verdict(whole, ok=not is_low) | whole if options.format == "json" else whole
    call.show(answer, ("OPERATION", "MET", "GAPS"), shown)
    if options.format == "table":
        print(f"\n{whole['percent']:g} % of all points, {whole['percent_of_used']:g} % of the operations used")
        for gap in whole["next_gaps"]:
            (kind, what), *_ = gap["closed_by"].items()
            closing = f"scenario {what}" if kind == "scenario" else f"a {kind}, see --format json"
            print(f"next: {gap['operation']}: {gap['point']} ({closing})")
    return int(is_low)


def _read_coverage(name: str) -> Coverage:
    """Read a file. Raises UsageError for one that cannot be read, or is not a coverage document."""
    try:
        return read(json.loads(read_file(name)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {error}") from None
