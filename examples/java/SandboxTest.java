import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SandboxTest {
    @RegisterExtension Sandbox sandbox = new Sandbox("{\"clock\": \"manual\"}");

    /** Without a scenario, also where the emulator has one. */
    @RegisterExtension Sandbox without = new Sandbox("{\"scenario\": null}");

    private HttpResponse<String> team(Sandbox sandbox) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(sandbox.baseUrl() + "/team"));
        request.header("Authorization", "Bearer " + sandbox.apiKey());
        return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> team() throws Exception {
        return team(sandbox);
    }

    @Test
    void aSandboxHasTheScenarioOfItsEmulatorUnlessItWantsNone() throws Exception {
        // Set by whoever runs this under `exec --scenario problem:internal_error`, which spoils the first call.
        boolean isSpoiled = System.getenv("EXPECTED_SCENARIO") != null;
        assertEquals(isSpoiled ? 500 : 200, team(sandbox).statusCode());
        assertEquals(200, team(without).statusCode());
    }

    @Test
    void theTeamIsRead() throws Exception {
        assertEquals(200, team(without).statusCode());
        assertTrue(team(without).body().contains("\"Demo\""));
    }

    @Test
    void aRateLimitIsOverAfterAMinute() throws Exception {
        sandbox.use("rate-limited");
        for (int number = 0; number < 5; number++) assertEquals(200, team().statusCode());
        assertEquals(429, team().statusCode());
        var before = sandbox.now();
        sandbox.advance(Duration.ofSeconds(60));
        assertEquals(before.plusSeconds(60), sandbox.now());
        assertEquals(200, team().statusCode());
    }
}
