// The emulator in a container of the test file's own: npm install --save-dev testcontainers vitest
// The image is not published yet: build it first, in a clone, by `docker build -t image-workflow-emulator .`.
import { GenericContainer, Wait, type StartedTestContainer } from "testcontainers";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The emulator in a container; options are those of `serve`, such as `{ clock: "auto" }`. */
class ImageWorkflowContainer extends GenericContainer {
  constructor(options: Record<string, string> = {}, image = "image-workflow-emulator") {
    super(image);
    const variables = Object.entries(options).map(([name, value]) => [`EMULATOR_${name.toUpperCase()}`, value]);
    this.withEnvironment(Object.fromEntries(variables));
    this.withExposedPorts(8038).withWaitStrategy(Wait.forLogMessage(/^ready http/m));
  }
}

function baseUrlOf(started: StartedTestContainer): string {
  return `http://${started.getHost()}:${started.getMappedPort(8038)}/v1`;
}

let emulator: StartedTestContainer;
let baseUrl: string;

beforeAll(async () => {
  emulator = await new ImageWorkflowContainer({ clock: "auto" }).start();
  baseUrl = baseUrlOf(emulator);
});

afterAll(() => emulator.stop());

test("the Team has Credits", async () => {
  const answer = await fetch(`${baseUrl}/team`, { headers: { Authorization: "Bearer iwe_demo_full" } });
  expect((await answer.json()).credits).toBe(100);
});
