"""The files through which a run of a sweep and the pytest plugin in it exchange data, in the folder of the run."""

from typing import Final

FOLDER_VARIABLE: Final = "IMAGE_WORKFLOW_SWEEP"
"""Names the folder to the plugin."""
NOTED_TESTS: Final = "noted-tests"
"""The file in it for lines with a sandbox's id and its test, as JSON."""
WANTED_TESTS: Final = "wanted-tests.json"
"""The file in it with the tests that are to be run; there is none if all are."""
FAILED_TESTS: Final = "failed-tests"
"""The file in it for lines with a test that failed, as JSON."""
