/**
 * A process of the release before and one of this at one database, which share conversations: the new one starts, and changes
 * the tables, while the old one works.
 */
import { NodeServices } from "@effect/platform-node"
import { Effect, Fiber, type Scope } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Child from "../chaos/process.ts"
import { makeFolder } from "../database.ts"

export interface Options {
  /** Paths of the program of the release before, and of this. */
  readonly before: string
  readonly now: string
  /** Of the server, or `undefined` for a file of SQLite. */
  readonly url: string | undefined
}

interface Process {
  readonly child: Child.Child
  readonly tell: (what: string, conversation?: string, tool?: string) => Effect.Effect<Answer, Error>
}

interface Answer {
  readonly text?: string
  readonly waits?: number
  readonly open?: number
  readonly count?: number
  readonly delivered?: boolean
  readonly error?: string
}

const start = (program: string, folder: string, url: string): Effect.Effect<Process, Error, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Child.startBy([], program, folder, url)
    yield* child.said("ready")
    let number = 0
    return {
      child,
      tell: (what, conversation = "-", tool = "-") =>
        Effect.suspend(() => {
          const own = ++number
          return Effect.andThen(
            child.say(`${own} ${what} ${conversation} ${tool}`),
            Effect.map(child.said(`= ${own} `), (line): Answer => JSON.parse(line))
          )
        })
    }
  })

/** What went wrong, and how many conversations there were. */
export const play = ({ before, now, url }: Options) =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* makeFolder("assent-upgrade-")
    const where = url ?? Path.join(folder, "approvals.db")
    const problems: Array<string> = []
    const paid = new Set<string>()
    const wrong = (is: boolean, what: string) => void (is && problems.push(what))

    const asks = (by: Process, name: string, tool = "Pay") =>
      Effect.map(by.tell("ask", name, tool), ({ error, waits }) =>
        wrong(waits !== 1, `${name} is not asked: ${error ?? waits}`))
    const approves = (by: Process, name: string, turn = 1) =>
      Effect.map(by.tell("approve", name), (answer) => {
        paid.add(`${name}-${turn}`)
        wrong(
          answer.text?.includes(`paid ${name}-${turn}`) !== true,
          `${name} is not approved: ${JSON.stringify(answer)}`
        )
      })
    // One of them is told that it was decided, or that there is nothing to decide any more.
    const bothApprove = (one: Process, other: Process, name: string) =>
      Effect.map(
        Effect.all([one.tell("approve", name), other.tell("approve", name)], { concurrency: 2 }),
        (answers) => {
          paid.add(`${name}-1`)
          const isOver = ({ error, open, text }: Answer) =>
            text?.includes("paid") === true || open === 0 || /AlreadyDecided|was decided|Busy/.test(error ?? "")
          for (const answer of answers) {
            wrong(!isOver(answer), `${name}, by both: ${JSON.stringify(answer)}`)
          }
          wrong(
            !answers.some(({ text }) =>
              text?.includes("paid")
            ),
            `${name} was paid for nobody`
          )
        }
      )
    const sees = (by: Process, who: string, ...names: ReadonlyArray<string>) =>
      Effect.map(by.tell("inbox"), (found) => {
        const inbox = Array.isArray(found) ? found : []
        for (const name of names) wrong(!inbox.includes(name), `${who} does not see ${name}`)
      })
    const delivers = (by: Process, then: Process, name: string) =>
      Effect.gen(function*() {
        wrong((yield* by.tell("deliver", name)).delivered !== true, `${name} cannot be delivered`)
        const answer = yield* then.tell("wake", name)
        paid.add(`${name}-1`)
        wrong(
          answer.text?.includes(`paid 250 for ${name}`) !== true,
          `${name} does not go on: ${JSON.stringify(answer)}`
        )
      })

    const old = yield* start(before, folder, where)
    yield* Effect.forEach(["a1", "a2", "a3", "a4", "a5"], (name) => asks(old, name), { concurrency: 3 })
    yield* Effect.forEach(["o1", "o2"], (name) => asks(old, name, "Order"))
    const working = yield* Effect.forkChild(old.tell("busy", "busy"))
    yield* old.child.said("busy")

    // It changes the tables while the other one works.
    const young = yield* start(now, folder, where)
    yield* sees(young, "the new one", "a1", "a2", "a3", "a4", "a5", "o1", "o2")
    yield* approves(young, "a1")
    yield* approves(old, "a2")
    yield* bothApprove(old, young, "a3")
    yield* delivers(young, young, "o1")
    yield* delivers(old, young, "o2")

    // What is asked from now on, by either.
    yield* Effect.forEach(["b1", "b2", "b3", "b4"], (name) => asks(old, name), { concurrency: 3 })
    yield* Effect.forEach(["c1", "c2", "c3", "c4"], (name) => asks(young, name), { concurrency: 3 })
    yield* Effect.forEach(["o3", "o4"], (name) => asks(old, name, "Order"))
    yield* Effect.forEach(["o5", "o6"], (name) => asks(young, name, "Order"))
    const open = ["a4", "a5", "b1", "b2", "b3", "b4", "c1", "c2", "c3", "c4", "o3", "o4", "o5", "o6"]
    yield* sees(young, "the new one", ...open)
    yield* sees(old, "the old one", ...open)
    yield* approves(young, "b1")
    yield* approves(old, "c1")
    yield* bothApprove(old, young, "b2")
    yield* bothApprove(young, old, "c2")
    yield* delivers(young, old, "o3")
    yield* delivers(old, old, "o5")
    yield* delivers(young, young, "o4")
    yield* delivers(old, young, "o6")
    // Another turn, by the other one.
    yield* asks(young, "b1")
    yield* approves(old, "b1", 2)
    yield* asks(old, "c1")
    yield* approves(young, "c1", 2)

    // What an agent asks, which the release before does not have: it cannot answer for it, and is in nobody's way.
    yield* asks(young, "agent", "Clerk")
    const byOld = yield* old.tell("approve", "agent")
    wrong(byOld.error === undefined && byOld.open !== 0, `the old one answers for an agent: ${JSON.stringify(byOld)}`)
    yield* approves(young, "agent")

    yield* old.tell("stop")
    const { count = 0, error } = yield* Fiber.join(working)
    wrong(count < 5, `the old one did ${count} beside all that: ${error}`)
    for (let index = 0; index < count; index++) paid.add(`busy${index}-1`)

    // The old one dies while it pays: what it did is unknown, and the new one goes on.
    yield* asks(old, "hang", "Hang")
    yield* Effect.forkChild(old.tell("approve", "hang"))
    yield* old.child.said("hangs")
    paid.add("hang-1")
    yield* old.child.kill
    const unknown = yield* young.tell("wake", "hang")
    wrong(!/unknown/i.test(unknown.text ?? ""), `what hangs is ${JSON.stringify(unknown)}`)
    yield* Effect.forEach(["a4", "a5", "b3", "b4", "c3", "c4"], (name) => approves(young, name), { concurrency: 3 })
    const left = yield* young.tell("inbox")
    wrong(!Array.isArray(left) || left.length > 0, `left over: ${JSON.stringify(left)}`)

    // It does not start again.
    const again = yield* Child.startBy([], before, folder, where)
    const refusal = yield* Effect.raceFirst(
      again.said("refused"),
      Effect.as(again.said("ready"), "it has started")
    ).pipe(Effect.catch(({ message }) => Effect.succeed(message)))
    wrong(!/later version/.test(refusal), `the old one starts again: ${refusal}`)

    const lines = Fs.readFileSync(Path.join(folder, "paid.log"), "utf8").trim().split("\n")
    for (const line of new Set(lines)) {
      const times = lines.filter((one) => one === line).length
      wrong(times > 1, `${line} was paid ${times} times`)
      wrong(!paid.has(line), `${line} was paid, and nobody was told`)
    }
    for (const one of paid) wrong(!lines.includes(one), `${one} was told to be paid, and was not`)
    return { problems, refusal, conversations: lines.length }
  })).pipe(Effect.provide(NodeServices.layer))
