/**
 * Which tests a mutant does not meet; see `MUTATION.md`. Leaving a test out can only lower the score.
 */
import { beforeEach } from "vitest"

const left: ReadonlyArray<string> = [
  // Processes of their own, in which no mutant is switched on.
  "shared by processes > ",
  // It loads modules again, so that what is computed once when they load looks as if a test had computed it.
  "the random key survives hot reload",
  // They measure time or size, and take seconds where every branch is counted.
  "of 100,000 calls it remembers",
  "stops early instead of building hundreds of megabytes",
  "takes 1,048,576 bytes and refuses one more",
  "with more than 1 MB in many keys",
  "reading four times as many takes",
  "1000 approved calls run",
  "sweeps in the background when it opens",
  // The same stories as without `Chat`, told again. `EVERY_MODE=1 npm run mutation` has them, in twice the time.
  ...(process.env["EVERY_MODE"] === undefined ? ["[Chat."] : [])
]

beforeEach(({ skip, task }) => {
  skip(left.some((words) => task.fullTestName.includes(words)))
})
