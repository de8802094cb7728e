package emulator

import (
	"net/http"
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	status := m.Run()
	Stop()
	os.Exit(status)
}

func statusOfTeam(t *testing.T, sandbox *Sandbox) int {
	t.Helper()
	request, _ := http.NewRequest("GET", sandbox.BaseURL+"/team", nil)
	request.Header.Set("Authorization", "Bearer "+sandbox.APIKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// EXPECTED_SCENARIO is set by whoever runs this under `exec --scenario problem:internal_error`, which spoils the first call.
func TestASandboxHasTheScenarioOfItsEmulatorUnlessItWantsNone(t *testing.T) {
	t.Parallel()
	expected := 200
	if os.Getenv("EXPECTED_SCENARIO") != "" {
		expected = 500
	}
	if status := statusOfTeam(t, New(t, nil)); status != expected {
		t.Fatalf("inherited: status %d", status)
	}
	if status := statusOfTeam(t, New(t, map[string]any{"scenario": nil})); status != 200 {
		t.Fatalf("none: status %d", status)
	}
}

func TestTheTeamIsRead(t *testing.T) {
	t.Parallel()
	if status := statusOfTeam(t, New(t, map[string]any{"scenario": nil})); status != 200 {
		t.Fatalf("status %d", status)
	}
}

func TestARateLimitIsOverAfterAMinute(t *testing.T) {
	t.Parallel()
	sandbox := New(t, map[string]any{"clock": "manual"})
	sandbox.Use("rate-limited")
	for number := 0; number < 5; number++ {
		statusOfTeam(t, sandbox)
	}
	if status := statusOfTeam(t, sandbox); status != 429 {
		t.Fatalf("status %d", status)
	}
	before := sandbox.Now()
	sandbox.Advance(time.Minute)
	if after := sandbox.Now(); after.Sub(before) != time.Minute {
		t.Fatalf("%v after %v", after, before)
	}
	if status := statusOfTeam(t, sandbox); status != 200 {
		t.Fatalf("status %d", status)
	}
}
