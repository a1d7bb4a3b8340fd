/**
 * Another process that goes on with the agent's conversation: `<folder> [beat]`. It says "ready", waits for a line, and says
 * "told " with what the model is told of the agent's call, as JSON, once its turn has ended.
 */
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as Conversation from "@assent/ai/Conversation"
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import { SqlApproval } from "@assent/sql"
import { Effect, Schema } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Told from "../told.ts"

const [folder = "", beat] = process.argv.slice(2)

const gated = { success: Schema.String, needsApproval: true } as const
const toolkit = Toolkit.make(Tool.make("Pay", gated), Tool.make("Submit", gated))
const paid = Effect.sync(() => (Fs.appendFileSync(Path.join(folder, "paid.log"), `${process.pid}\n`), "paid again"))
const Handlers = toolkit.toLayer({ Pay: () => paid, Submit: () => paid })

const line = Effect.callback<void>((resume) => {
  process.stdin.once("data", () => {
    process.stdin.destroy()
    resume(Effect.void)
  })
})

const program = Effect.gen(function*() {
  const script = yield* Told.unlessTold("Pay")
  const conversation = yield* Conversation.make({ id: "c1", toolkit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, script.model)
  )
  yield* conversation.pending()
  Fs.writeSync(1, "ready\n")
  yield* line
  yield* conversation.send("And now?").pipe(
    Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(() => true))
  )
  const requests = yield* script.requests
  Fs.writeSync(1, `told ${JSON.stringify(Told.of(requests.at(-1)!.prompt))}\n`)
})

const Kept = SqlApproval.layer({
  filename: Path.join(folder, "approvals.db"),
  ...(beat === undefined ? undefined : { heartbeat: Number(beat) })
})

await Effect.runPromise(Effect.provide(program, [Handlers, Kept]))
