/**
 * The engine's tests that fail on SQLite, because what they say is so of memory alone, and why. One that passes is an error,
 * and so is one that is not there.
 */
export const exceptions: Readonly<Record<string, string>> = {}

export const whyNot = (test: string): string | undefined => exceptions[test]
