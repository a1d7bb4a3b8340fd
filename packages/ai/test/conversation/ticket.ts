/** A ticket that somebody has to take: it reminds the agent once when nobody answers for an hour, and then asks the lead. */
import { Effect, Schema } from "effect"
import { DeferredTool, Interaction, Toolkit } from "../../src/index.ts"
import * as Laws from "../laws/support.ts"
import * as C from "./support.ts"

export const Ticket = DeferredTool.make("Ticket", {
  success: Schema.String,
  state: Schema.Number,
  interactions: { agent: Interaction.askUser, lead: Interaction.askUser }
})

const kit = Toolkit.make(Ticket, Laws.DeleteFile)

/** Reminds the agent once, and then asks the lead. */
const makeToolkit = (steps: Array<string>) =>
  Effect.provide(
    kit,
    kit.toLayer({
      DeleteFile: () => Effect.succeed({ deleted: true }),
      Ticket: DeferredTool.handler(Ticket, {
        start: () => Ticket.suspend.agent({ prompt: "Who takes it?", expiresIn: "1 hour" }, 1),
        resume: {
          agent: (said) => Effect.as(Effect.sync(() => steps.push(`agent: ${said}`)), said),
          lead: (said) => Effect.as(Effect.sync(() => steps.push(`lead: ${said}`)), said)
        },
        expired: {
          agent: (asked) => {
            steps.push(`asked ${asked} times`)
            return asked === 1
              ? Ticket.suspend.agent({ prompt: "Really nobody?", expiresIn: "1 hour" }, asked + 1)
              : Ticket.suspend.lead({ prompt: "Your team is silent." }, asked)
          }
        }
      })
    })
  )

/** The model makes one. */
export const call = { ...C.ask("x", "t1"), name: "Ticket", params: {} }

/** A conversation with that tool beside `DeleteFile`, and what the handlers of the ticket did. */
export const start = (options: Omit<C.StartOptions, "toolkit">) =>
  Effect.gen(function*() {
    const steps: Array<string> = []
    const toolkit = (yield* makeToolkit(steps)) as unknown as Laws.AnyToolkit
    return { ...(yield* C.start({ ...options, toolkit })), steps }
  })
