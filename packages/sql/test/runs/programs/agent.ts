/**
 * An agent that pays, and is stopped while it does: `<folder> <file|default> <send|stream|decide|start|resume> [beat]`. Paying is
 * a line in `paid.log`, a lock file, and a process of its own; then it takes for ever. It says "running <pid> <pid>": its
 * own, and that of the other process.
 *
 * `file`: everything is kept in the folder; `default`: the program has provided nothing. `send` and `stream` are approved
 * inline, `decide` and `start` in a turn after the one that asked, and `resume` goes on from an answer.
 */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as Conversation from "@assent/ai/Conversation"
import * as DeferredTool from "@assent/ai/DeferredTool"
import * as Interaction from "@assent/ai/Interaction"
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import { SqlApproval } from "@assent/sql"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Schema, Stream } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Told from "../told.ts"

const [folder = "", where = "", way = "", beat] = process.argv.slice(2)

const Pay = Tool.make("Pay", { success: Schema.String, needsApproval: true })
const Submit = DeferredTool.make("Submit", {
  success: Schema.String,
  interactions: { manager: Interaction.getApproval }
})
const toolkit = Toolkit.make(Pay, Submit)

const lock = Path.join(folder, "lock")

const running = Effect.gen(function*() {
  Fs.appendFileSync(Path.join(folder, "paid.log"), `${process.pid}\n`)
  yield* Effect.acquireRelease(
    Effect.sync(() => Fs.writeFileSync(lock, `${process.pid}`, { flag: "wx" })),
    () => Effect.sync(() => Fs.rmSync(lock))
  )
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => ChildProcess.spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" })),
    (child) =>
      Effect.promise(() =>
        new Promise((resolve) => {
          child.once("exit", resolve)
          child.kill()
        })
      )
  )
  Fs.writeSync(1, `running ${process.pid} ${child.pid}\n`)
  return yield* Effect.never
}).pipe(Effect.scoped)

const Handlers = toolkit.toLayer({
  Pay: () => running,
  Submit: DeferredTool.handler(Submit, {
    start: () => Submit.suspend.manager({ prompt: "May it be paid?" }),
    resume: { manager: () => running }
  })
})

const program = Effect.gen(function*() {
  const { model } = yield* Told.unlessTold(way === "resume" ? "Submit" : "Pay")
  const conversation = yield* Conversation.make({ id: "c1", toolkit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model)
  )
  const inline = Effect.provideService(
    ApprovalController.ApprovalController,
    ApprovalController.interactive(() => true)
  )
  if (way === "send") return yield* inline(conversation.send("Pay the bill."))
  if (way === "stream") return yield* inline(Stream.runDrain(conversation.stream("Pay the bill.")))
  yield* conversation.send("Pay the bill.")
  const open = yield* conversation.pending()
  const answers = open.map((request) => Approval.approve(request))
  // It belongs to the store: nobody waits for it.
  if (way === "start") return yield* Effect.andThen(conversation.start("And hurry.", { answers }), Effect.never)
  return yield* conversation.decide(answers)
})

const Kept = where === "file"
  ? SqlApproval.layer({
    filename: Path.join(folder, "approvals.db"),
    grace: "100 millis",
    ...(beat === undefined ? undefined : { heartbeat: Number(beat) })
  })
  : Layer.empty

NodeRuntime.runMain(Effect.provide(program, [Handlers, Kept]))
