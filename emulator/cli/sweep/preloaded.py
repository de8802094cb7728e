"""Imports everything that a run of a sweep needs, once: the process that runs are forked from loads only this module."""

import gc
from importlib import import_module

for name in (
    "emulator.app",
    "emulator.cli.execution",
    "emulator.cli.sweep.runs",
    "emulator.examiner.coverage_page",
    "jsonschema_rs",
    "uvicorn.lifespan.off",
    "uvicorn.loops.auto",
):
    import_module(name)
gc.freeze()  # what is shared with the processes that are forked is not to be touched when they collect garbage
