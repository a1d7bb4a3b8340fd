/**
 * `npm run pages -- --stories 1000`: plays that many random stories, and ends with 1 where one of them went wrong. With
 * `--servers` the pages are on two servers over one database, which start anew now and then.
 */
import * as NodeUtil from "node:util"
import { play } from "./story.ts"

const { values } = NodeUtil.parseArgs({
  options: {
    stories: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    servers: { type: "boolean" },
    show: { type: "boolean" }
  }
})
const first = Number(values.seed)
const count = Number(values.stories)
const sum = { posts: 0, clicks: 0, ran: 0, wrong: 0 }

for (let seed = first; seed < first + count; seed++) {
  const { clicks, posts, problems, ran, steps } = await play(seed, values.servers)
  sum.posts += posts
  sum.clicks += clicks
  sum.ran += ran
  if (values.show === true) console.log(steps.join("\n"))
  if (problems.length === 0) continue
  sum.wrong++
  console.log(`seed ${seed}: ${problems.join("; ")}`)
}
console.log(
  `${count} stories from seed ${first}: ${sum.posts} posts, ${sum.clicks} clicks, ${sum.ran} tools ran; ${sum.wrong} went wrong.`
)
process.exitCode = sum.wrong === 0 ? 0 : 1
