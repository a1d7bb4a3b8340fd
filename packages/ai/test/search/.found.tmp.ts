import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Known from "./known.ts"
import * as Search from "./search.ts"
;(Known.known as any).length = 0
const turn = (o: any = {}) => ({
  _tag: "Turn",
  say: "nothing",
  answers: [],
  model: { text: true, calls: [], hosted: [], finish: "complete", fails: "no" },
  toolkit: "full",
  object: false,
  resolve: true,
  delivery: { _tag: "Once" },
  ...o
})
const call = (o: any = {}) => ({ tool: "Delete", id: 0, amount: 0, how: "succeed", note: "plain", flaw: "none", ...o })
const remote = (o: any = {}) => ({
  tool: "Remote",
  amount: 0,
  asks: true,
  says: false,
  runs: "succeed",
  early: false,
  ...o
})
const says = (calls: any[], hosted: any[] = []) => ({ text: true, calls, hosted, finish: "complete", fails: "no" })
const say = (decision: string, request: any = "open") => [{ request, decision }]
const options = {
  way: "generateText",
  onNewMessage: "supersede",
  onInvalid: "result",
  expires: "by default",
  concurrency: 8,
  incremental: false,
  provider: "foreign"
}
const plans: Record<string, [string, string, any[]]> = {
  "answer-to-a-settled-request": [
    "Answers",
    "an answer to a request that was superseded, and so never answered, is called unknown rather than already decided",
    [turn({ model: says([call()]) }), turn({ say: "after" }), {
      _tag: "Answer",
      answers: say("approve", 0),
      unknown: false
    }]
  ],
  "answer-to-a-hosted-result": [
    "Answers",
    "an answer to a request of the provider's whose call has its result is taken, rather than already decided",
    [turn({ model: says([], [remote()]) }), turn({ answers: say("approve") }), {
      _tag: "Answer",
      answers: say("approve", 0),
      unknown: false
    }]
  ],
  "hosted-edit-approves": [
    "L9",
    "an approval with edited parameters in a history reaches the provider as a plain approval of what it asked",
    [turn({ model: says([], [remote()]) }), turn({ answers: say("edit") })]
  ],
  "hosted-answer-after-the-result": [
    "L9",
    "a denial after a hosted call has run takes the place of the approval that the provider has",
    [turn({ model: says([], [remote()]) }), turn({ answers: say("approve") }), turn({ answers: say("deny", 0) })]
  ],
  "denial-after-a-failed-result": [
    "L3",
    "a denial of a call whose approval failed for want of a toolkit is not written down, so an older history still runs it",
    [
      turn({ model: says([call()]) }),
      turn({ answers: say("approve"), toolkit: "none" }),
      turn({ answers: say("deny", 0), model: { ...says([]), fails: "after" } }),
      { _tag: "Tamper", how: "drop results", at: 0, other: 0 },
      turn()
    ]
  ],
  "closed-while-claiming": [
    "L8",
    "a run whose claim is being written when its process is closed is interrupted without its grace",
    [
      turn({ model: says([call({ how: "slow" }), call()]) }),
      turn({ answers: say("approve"), delivery: { _tag: "Leave", hops: 2 } }),
      { _tag: "Restart", how: "close" }
    ]
  ],
  "joining-begins-a-run": [
    "L4",
    "a turn that says no, and would only join the run of its twin, begins it when the twin could not claim",
    [
      turn({ model: says([call(), call()]) }),
      { _tag: "Store", how: "fails", skip: 3, count: 2 },
      turn({ answers: say("approve"), delivery: { _tag: "Twice", another: false, hops: 1, rival: true } })
    ]
  ]
}
for (const [name, [law, why, steps]] of Object.entries(plans)) {
  const plan: any = { options, steps }
  const { breaches } = await Effect.runPromise(Search.examine(plan))
  const hit = breaches.find((b) => b.law === law)
  console.log(name, breaches)
  if (!hit) {
    console.log("NOT FOUND")
    continue
  }
  const small = await Effect.runPromise(Search.shrink({ ...hit, plan, tried: 1 }))
  Fs.writeFileSync(`/tmp/found/${name}.json`, JSON.stringify({ law, why, plan: small.plan }, undefined, 2) + "\n")
  console.log(small.what, small.plan.steps.length)
}
