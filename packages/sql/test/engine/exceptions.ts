/** The engine's tests that fail on SQLite, because what they say is so of memory only. One that passes is an error. */
export const exceptions: ReadonlyArray<{ readonly test: string; readonly why: string }> = []
