import { expect, test } from "vitest";
import { useSandbox } from "./emulator.ts";

// These hold whether the emulator has a scenario of its own or none.
const inherited = await useSandbox();
const alsoInherited = await useSandbox({ scenario: undefined });
const without = await useSandbox({ scenario: null });
const named = await useSandbox({ scenario: "answer-lost" });
const expected = process.env.EXPECTED_SCENARIO ?? null;

test("a sandbox that says nothing of a scenario has that of the emulator", async () => {
  expect(await inherited.scenario()).toBe(expected);
});

test("undefined says nothing", async () => {
  expect(await alsoInherited.scenario()).toBe(expected);
});

test("null means none", async () => {
  expect(await without.scenario()).toBeNull();
});

test("a sandbox that names a scenario has that one", async () => {
  expect(await named.scenario()).toBe("answer-lost");
});
