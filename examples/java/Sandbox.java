import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A sandbox of the Image Workflow Emulator for each test of a class of JUnit 5:
 * {@code @RegisterExtension Sandbox sandbox = new Sandbox("{\"scenario\": \"answer-lost\"}");}
 *
 * <p>The emulator is the one of EMULATOR_URL, as under {@code image-workflow-emulator exec -- mvn test}. Where that is not set, the
 * installed command is started once, and ended with the program. After each test the sandbox is deleted, and what the client
 * did that would cost money or leak a key fails the test.
 */
public final class Sandbox implements BeforeEachCallback, AfterEachCallback {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static String url;

    private final String options;
    private String made;

    /** A sandbox whose clock skips the waits that the service asks for. */
    public Sandbox() {
        this("{\"clock\": \"auto\"}");
    }

    /**
     * A sandbox with what POST /_emulator/sandboxes takes, as JSON. Without "scenario" it has that of its emulator, as of
     * {@code exec --scenario}; with null it has none.
     */
    public Sandbox(String options) {
        this.options = options;
    }

    /** The address that the client is configured with. */
    public String baseUrl() {
        return field("IMAGE_WORKFLOW_BASE_URL", made);
    }

    /** The key of the Team Demo, of this sandbox alone. */
    public String apiKey() {
        return field("IMAGE_WORKFLOW_API_KEY", made);
    }

    /** Move the clock forward. */
    public void advance(Duration span) throws IOException, InterruptedException {
        call("POST", path() + "/clock/advance", "{\"seconds\": " + span.toMillis() / 1000.0 + "}");
    }

    /** What time it is on the clock. */
    public Instant now() throws IOException, InterruptedException {
        return Instant.parse(field("now", call("GET", path() + "/clock", null)));
    }

    /** Let a scenario of the library begin. */
    public void use(String scenario) throws IOException, InterruptedException {
        call("PUT", path() + "/scenario", "{\"use\": \"" + scenario + "\"}");
    }

    /** What the client did wrong, as JSON; see docs/conduct.md. */
    public String conduct() throws IOException, InterruptedException {
        return call("GET", path() + "/conduct?ended=true", null);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        made = call("POST", "/_emulator/sandboxes", options);
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        String conduct = conduct();
        call("DELETE", path(), null);
        if (Pattern.compile("\"severity\":\\s*\"error\"").matcher(conduct).find()) {
            throw new AssertionError("the client would do damage in production: " + conduct);
        }
    }

    private String path() {
        return "/_emulator/sandboxes/" + field("id", made);
    }

    /** The first string of a name in JSON: what is read here has no escapes. */
    private static String field(String name, String json) {
        var found = Pattern.compile("\"" + name + "\":\\s*\"([^\"]*)\"").matcher(json);
        if (!found.find()) throw new IllegalStateException("there is no " + name + " in " + json);
        return found.group(1);
    }

    private static String call(String method, String path, String body) throws IOException, InterruptedException {
        var content = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
        var request = HttpRequest.newBuilder(URI.create(emulator() + path)).method(method, content);
        var answer = HTTP.send(request.header("Content-Type", "application/json").build(), BodyHandlers.ofString());
        if (answer.statusCode() >= 300) throw new IOException(method + " " + path + ": " + answer.body());
        return answer.body();
    }

    private static synchronized String emulator() throws IOException {
        if (url == null) url = System.getenv("EMULATOR_URL");
        if (url == null) url = start();
        return url;
    }

    private static String start() throws IOException {
        var command = new ProcessBuilder("image-workflow-emulator", "serve", "--port", "0", "--access-log", "off");
        var process = command.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        var output = new BufferedReader(new InputStreamReader(process.getInputStream()));
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith("ready ")) return line.substring("ready ".length()).replaceFirst("/v1$", "");
        }
        throw new IOException("image-workflow-emulator serve has ended before it was ready");
    }
}
