/**
 * Another process that follows the agent's turn: `<folder> <beat>`. It says "follows" when it has found it, and "ended " with
 * how it ended and what it said.
 */
import * as Conversation from "@assent/ai/Conversation"
import * as ConversationStore from "@assent/ai/ConversationStore"
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import { SqlApproval } from "@assent/sql"
import { Effect, Schema, Stream } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Told from "../told.ts"

const [folder = "", beat] = process.argv.slice(2)

const toolkit = Toolkit.make(Tool.make("Pay", { success: Schema.String, needsApproval: true }))
const Handlers = toolkit.toLayer({ Pay: () => Effect.die("nothing runs where somebody reads") })

const program = Effect.gen(function*() {
  const { model } = yield* Told.unlessTold("Pay")
  const conversation = yield* Conversation.make({ id: "c1", toolkit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model)
  )
  const turn = yield* conversation.turn
  if (turn === undefined) return Fs.writeSync(1, "ended There is none\n")
  Fs.writeSync(1, "follows\n")
  const said: Array<string> = []
  const exit = yield* Effect.result(Stream.runForEach(turn.parts, ({ type }) => Effect.sync(() => said.push(type))))
  const how = exit._tag === "Success"
    ? "well"
    : exit.failure instanceof ConversationStore.ConversationError
    ? exit.failure.reason
    : String(exit.failure)
  Fs.writeSync(1, `ended ${[how, "after", ...said].join(" ")}\n`)
})

const Kept = SqlApproval.layer({ filename: Path.join(folder, "approvals.db"), heartbeat: Number(beat) })

await Effect.runPromise(Effect.provide(program, [Handlers, Kept]))
