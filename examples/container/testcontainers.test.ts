// The emulator in a container of the test file's own: npm install --save-dev testcontainers vitest
// The image is in no registry yet: build it first, in a clone, by `docker build -t image-workflow-emulator .`.
import { GenericContainer, Wait, type StartedTestContainer } from "testcontainers";
import { afterAll, beforeAll, expect, test } from "vitest";

let emulator: StartedTestContainer;
let baseUrl: string;

beforeAll(async () => {
  emulator = await new GenericContainer("image-workflow-emulator")
    .withEnvironment({ EMULATOR_CLOCK: "auto" })
    .withExposedPorts(8038)
    .withWaitStrategy(Wait.forLogMessage(/^ready http/m))
    .start();
  baseUrl = `http://${emulator.getHost()}:${emulator.getMappedPort(8038)}/v1`;
});

afterAll(() => emulator.stop());

test("the Team has Credits", async () => {
  const answer = await fetch(`${baseUrl}/team`, { headers: { Authorization: "Bearer iwe_demo_full" } });
  expect((await answer.json()).credits).toBe(100);
});
