/** Asks what a file of requests says, one after the other, and writes down what was decided. */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as TerminalController from "@assent/terminal/TerminalController"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { request } from "../scene/requests.ts"

const [, , input, output] = process.argv
const requests: ReadonlyArray<object> = JSON.parse(Fs.readFileSync(input!, "utf8") || "[]")

const decode = (
  { after: _, awaited, presentation, ...fields }: { after?: string; awaited?: never; presentation?: never }
) => ({
  ...fields,
  ...(awaited === undefined ? {} : { awaited: new Approval.Awaited(awaited) }),
  ...(presentation === undefined ? {} : { presentation: new Approval.ApprovalPresentation(presentation) })
})

const program = Effect.gen(function*() {
  const controller = yield* TerminalController.make({ by: { id: "ada", name: "Ada" } })
  for (const fields of requests) {
    const { after, params = {}, toolName = "WriteFile" } = fields as {
      params?: never
      toolName?: string
      after?: string
    }
    // The program is at work until it is told to go on.
    if (after !== undefined) {
      yield* Console.log("at work")
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => Fs.existsSync(`${output}.${after}`) })
    }
    const asked = controller.ask!(
      request(toolName, params, decode(fields))
    )
    // As the engine says it: a program's own question is remembered in a named conversation alone.
    const remembers = (fields as { source?: string }).source === "program" ? undefined : "toolkit"
    const reply = yield* Effect.provideService(asked, ApprovalController.Remembers, remembers)
    const decision = reply !== undefined && "decision" in reply ? reply.decision : reply
    Fs.appendFileSync(output!, `${JSON.stringify(decision)}\n`)
  }
  yield* Console.log("done")
})

program.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
