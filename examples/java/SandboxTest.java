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

    private HttpResponse<String> team() throws Exception {
        var request = HttpRequest.newBuilder(URI.create(sandbox.baseUrl() + "/team"));
        request.header("Authorization", "Bearer " + sandbox.apiKey());
        return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void theTeamIsRead() throws Exception {
        assertEquals(200, team().statusCode());
        assertTrue(team().body().contains("\"Demo\""));
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
