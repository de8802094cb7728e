"""The examples, and the TypeScript that the documentation shows, are run as their reader would run them."""

import shutil
from pathlib import Path

import pytest

from tests.clients.generated import TIME_LIMIT_SECONDS, install_packages, need, run
from tests.packaging.pages import fences, path_with_program
from tests.support.served import EMULATOR, ROOT, Outcome, run_program, run_pytest

EXAMPLES = ROOT / "examples"


def test_the_suite_of_the_python_client_passes() -> None:
    outcome = run_pytest(EXAMPLES / "python", "-q", "-c", "pytest.ini", seconds=300)
    assert outcome.status == 0, outcome.output + outcome.complaint
    assert "25 passed" in outcome.output


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of examples/typescript with its packages, and with the tests that the documentation shows."""
    folder = tmp_path_factory.mktemp("typescript")
    shutil.copytree(EXAMPLES / "typescript", folder, dirs_exist_ok=True)
    install_packages(folder)
    for number, (_, shown) in enumerate(fences(ROOT / "docs/testing.md", "ts")):
        (folder / f"shown-{number}.test.ts").write_text(shown)
    return folder


@pytest.mark.verify
def test_the_types_of_the_typescript_client_are_right(typescript: Path) -> None:
    run(["npx", "tsc", "--noEmit"], typescript)


@pytest.mark.verify
@pytest.mark.parametrize("readings", ["plain", "stingy", "other"])
def test_the_suite_of_the_typescript_client_passes(readings: str, typescript: Path) -> None:
    command = [*EMULATOR, "exec", "--readings", readings, "--", "npx", "vitest", "run"]
    run(command, typescript, PYTHONPATH=str(ROOT))


@pytest.mark.verify
@pytest.mark.parametrize("readings", ["stingy", "other"])
def test_the_python_client_passes_under_sets_of_readings(readings: str) -> None:
    arguments = ("-q", "-c", "pytest.ini", "--image-workflow-readings", readings)
    outcome = run_pytest(EXAMPLES / "python", *arguments, seconds=300)
    assert outcome.status == 0, outcome.output


# Java and Go ----------------------------------------------------------------------------------------------------------

JUNIT = ("junit-jupiter*", "junit-platform*", "opentest4j*", "apiguardian*")
"""The jars of Debian's package junit5."""
CARELESS = {
    "java": """\
import java.net.http.*;

class CarelessTest {
    @org.junit.jupiter.api.extension.RegisterExtension Sandbox sandbox = new Sandbox();

    @org.junit.jupiter.api.Test
    void theKeyIsInAnAddress() throws Exception {
        var address = java.net.URI.create(sandbox.baseUrl() + "/team?key=" + sandbox.apiKey());
        var request = HttpRequest.newBuilder(address).header("Authorization", "Bearer " + sandbox.apiKey());
        HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.discarding());
    }
}
""",
    "go": """\
package emulator

import (
	"net/http"
	"testing"
)

func TestCareless(t *testing.T) {
	sandbox := New(t, nil)
	request, _ := http.NewRequest("GET", sandbox.BaseURL+"/team?key="+sandbox.APIKey, nil)
	request.Header.Set("Authorization", "Bearer "+sandbox.APIKey)
	http.DefaultClient.Do(request)
}
""",
}
"""Tests whose client puts its key where it is logged."""
FILES = {"java": "CarelessTest.java", "go": "careless_test.go"}


def run_tests_of(language: str, folder: Path, **variables: str) -> Outcome:
    """Run the tests of a copy of examples/java or examples/go."""
    if language == "go":
        need("go")
        settings = {"GOPROXY": "off", "GOCACHE": str(folder / "cache"), **variables}
        return run_program("go", "test", "-v", "./...", folder=folder, seconds=TIME_LIMIT_SECONDS, **settings)
    need("javac")
    jars = [str(jar) for name in JUNIT for jar in Path("/usr/share/java").glob(f"{name}.jar")]
    if not jars:
        pytest.skip("needs the jars of JUnit 5, such as those of Debian's package junit5")
    classes = folder / "classes"
    run(["javac", "-cp", ":".join(jars), "-d", classes, *folder.glob("*.java")], folder)
    command = ("java", "-cp", ":".join([*jars, str(classes)]), "org.junit.platform.console.ConsoleLauncher")
    options = ("--scan-classpath", str(classes), "--disable-ansi-colors", "--details", "tree")
    return run_program(*command, *options, folder=folder, seconds=TIME_LIMIT_SECONDS, **variables)


@pytest.mark.verify
@pytest.mark.parametrize("language", ["java", "go"])
def test_the_tests_in_another_language_pass_and_a_careless_client_fails_its_test(language: str, tmp_path: Path) -> None:
    folder = tmp_path / language
    shutil.copytree(EXAMPLES / language, folder)
    path = path_with_program(tmp_path)
    outcome = run_tests_of(language, folder, PATH=path)
    assert outcome.status == 0, outcome.output + outcome.complaint
    (folder / FILES[language]).write_text(CARELESS[language])
    outcome = run_tests_of(language, folder, PATH=path)
    assert outcome.status == 1
    assert "credential-in-request" in outcome.output
