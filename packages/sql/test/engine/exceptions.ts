/**
 * The engine's tests that fail on SQLite, because what they say is so of memory alone, and why. One that passes is an error,
 * and so is one that is not there.
 */
export const exceptions: Readonly<Record<string, string>> = {
  "L2 a request that has no expiry > is never swept from a store, and is known to a process that starts later":
    "After `resultTimeToLive` SQLite gives up what a run resulted in; that it ran stays known (SqlStore.test.ts)."
}

export const whyNot = (test: string): string | undefined => exceptions[test]
