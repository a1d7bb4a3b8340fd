/** `npm run pages -- --stories 1000`: plays that many random stories, and ends with 1 where one of them went wrong. `--servers 2`: over two. */
import * as NodeUtil from "node:util"
import { play } from "./story.ts"

const { values } = NodeUtil.parseArgs({
  options: {
    stories: { type: "string", default: "1000" },
    servers: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    show: { type: "boolean" }
  }
})
const first = Number(values.seed)
const count = Number(values.stories)
const sum = { posts: 0, clicks: 0, edits: 0, reloads: 0, kills: 0, ran: 0 }
let wrong = 0

for (let seed = first; seed < first + count; seed++) {
  const { problems, steps, ...counts } = await play(seed, Number(values.servers))
  for (const name of Object.keys(sum) as ReadonlyArray<keyof typeof sum>) sum[name] += counts[name]
  if (values.show === true) console.log(steps.join("\n"))
  if (problems.length === 0) continue
  wrong++
  console.log(`seed ${seed}: ${problems.join("; ")}`)
}
console.log(
  `${count} stories from seed ${first}: ${sum.posts} posts, ${sum.clicks} clicks, ${sum.edits} edits, ` +
    `${sum.reloads} reloads, ${sum.kills} kills, ${sum.ran} tools ran; ${wrong} went wrong.`
)
process.exitCode = wrong === 0 ? 0 : 1
