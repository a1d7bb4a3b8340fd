/**
 * What runs when a real process is stopped: `npm run chaos:runs`. Kills and signals an agent that pays, in every way of
 * taking a turn, and prints how long it takes until another process goes on. With `--only kill` or `--only signal`, these.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import * as Stories from "./stories.ts"

const { values } = parseArgs({ options: { only: { type: "string" } } })

/** In milliseconds: after that another process has to have gone on. */
const limit = 10_000

const stories = [
  ...Stories.ways.map((way) => ["kill", `kill -9, ${way}: another process goes on`, Stories.killed(way)] as const),
  ...(["SIGTERM", "SIGINT"] as const).flatMap((signal) =>
    (["file", "default"] as const).flatMap((where) =>
      Stories.ways.map((way) =>
        ["signal", `${signal}, ${where}, ${way}: it has ended`, Stories.signalled(signal, where, way)] as const
      )
    )
  )
].filter(([kind]) => values.only === undefined || values.only === kind)

const play = ([, title, story]: (typeof stories)[number]) =>
  Effect.map(story, ({ millis, problems }) => {
    const all = millis < limit ? problems : [...problems, `${title} after ${millis} ms.`]
    console.log(`${all.length === 0 ? "ok    " : "FAILED"} ${(millis / 1_000).toFixed(1).padStart(5)} s  ${title}`)
    for (const problem of all) console.log(`       ${problem}`)
    return all.length
  })

const failed = await Effect.runPromise(Effect.forEach(stories, play, { concurrency: 2 }))
if (failed.some((problems) => problems > 0)) process.exitCode = 1
