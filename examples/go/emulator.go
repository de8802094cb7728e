// Package emulator gives each test a sandbox of the Image Workflow Emulator.
//
// The emulator is the one of EMULATOR_URL, as under `image-workflow-emulator exec -- go test ./...`. Where that is not set, the
// installed command is started once, and killed by Stop, which TestMain calls.
package emulator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Sandbox is a service of its own: Teams, keys, clock, scenario and journal.
type Sandbox struct {
	BaseURL string // the address that the client is configured with
	APIKey  string // the key of the Team Demo, of this sandbox alone
	path    string
	t       testing.TB
}

// Finding is something that the client did wrong; see docs/conduct.md.
type Finding struct{ Rule, Severity, Message, Remedy string }

// New makes a sandbox with what POST /_emulator/sandboxes takes; its clock skips the waits that the service asks for. Without
// "scenario" it has that of its emulator, as of `exec --scenario`; with nil it has none. At the end of the test the sandbox is
// deleted, and what the client did that would cost money or leak a key fails the test.
func New(t testing.TB, options map[string]any) *Sandbox {
	t.Helper()
	body := map[string]any{"clock": "auto"}
	for name, value := range options {
		body[name] = value
	}
	var made struct {
		ID  string
		Env map[string]string
	}
	call(t, "POST", "/sandboxes", body, &made)
	environment := made.Env
	s := &Sandbox{environment["IMAGE_WORKFLOW_BASE_URL"], environment["IMAGE_WORKFLOW_API_KEY"], "/sandboxes/" + made.ID, t}
	t.Cleanup(func() {
		for _, finding := range s.Conduct() {
			if finding.Severity == "error" {
				t.Errorf("%s: %s\nremedy: %s", finding.Rule, finding.Message, finding.Remedy)
			}
		}
		call(t, "DELETE", s.path, nil, nil)
	})
	return s
}

// Advance moves the clock forward.
func (s *Sandbox) Advance(span time.Duration) {
	s.t.Helper()
	call(s.t, "POST", s.path+"/clock/advance", map[string]any{"seconds": span.Seconds()}, nil)
}

// Now is the time on the clock.
func (s *Sandbox) Now() time.Time {
	s.t.Helper()
	var clock struct{ Now time.Time }
	call(s.t, "GET", s.path+"/clock", nil, &clock)
	return clock.Now
}

// Use lets a scenario of the library begin.
func (s *Sandbox) Use(scenario string) {
	s.t.Helper()
	call(s.t, "PUT", s.path+"/scenario", map[string]any{"use": scenario}, nil)
}

// Conduct is what the client did wrong.
func (s *Sandbox) Conduct() []Finding {
	s.t.Helper()
	var conduct struct{ Findings []Finding }
	call(s.t, "GET", s.path+"/conduct?ended=true", nil, &conduct)
	return conduct.Findings
}

func call(t testing.TB, method, path string, body, result any) {
	t.Helper()
	start.Do(find)
	var content []byte
	if body != nil {
		content, _ = json.Marshal(body)
	}
	request, err := http.NewRequest(method, url+"/_emulator"+path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("no emulator answers: %v", err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, path, text)
	}
	if result != nil && json.Unmarshal(text, result) != nil {
		t.Fatalf("%s %s: %s", method, path, text)
	}
}

var (
	url    string
	start  sync.Once
	server *exec.Cmd
)

// find takes the emulator of EMULATOR_URL, or starts one; without one, each call fails.
func find() {
	if url = os.Getenv("EMULATOR_URL"); url != "" {
		return
	}
	server = exec.Command("image-workflow-emulator", "serve", "--port", "0", "--access-log", "off")
	output, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "ready ") {
			url = strings.TrimSuffix(strings.TrimPrefix(lines.Text(), "ready "), "/v1")
			return
		}
	}
}

// Stop ends the emulator that was started for the tests, if there is one.
func Stop() {
	if server != nil && server.Process != nil {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	}
}
