// A client that waits out a silent service takes longer than the five seconds that vitest gives a test.
export default { test: { testTimeout: 120_000, hookTimeout: 120_000 } };
