/** The tools of the plans that leave, with their handlers: the same objects for all plans. */
import { Effect, Schema } from "effect"
import { DeferredTool, Interaction, Tool, Toolkit } from "../../../src/index.ts"
import type * as Plan from "./plan.ts"
import type * as Record from "./record.ts"
import * as Stage from "./stage.ts"

const fields = {
  parameters: Schema.Struct({ how: Schema.String }),
  success: Schema.Struct({ done: Schema.String }),
  failure: Schema.Struct({ why: Schema.String }),
  failureMode: "return"
} as const

const Pay = Tool.make("Pay", { ...fields, needsApproval: true })
const Sync = Tool.make("Sync", { ...fields, needsApproval: true }).annotate(Tool.Idempotent, true)
const Look = Tool.make("Look", fields)
const Book = DeferredTool.make("Book", {
  ...fields,
  state: Schema.Struct({ how: Schema.String }),
  needsApproval: true,
  interactions: { sure: Interaction.getApproval }
})

type Say = (done: string) => Effect.Effect<void>

const behave = (how: string, mark: string, say: Say): Effect.Effect<{ done: string }, { why: string }> => {
  const end = Effect.succeed({ done: mark })
  switch (how as Plan.Call["how"]) {
    case "quick":
      return end
    case "slow":
      return Effect.andThen(Effect.sleep("20 seconds"), end)
    case "fail":
      return Effect.fail({ why: mark })
    case "die":
      return Effect.die(new Error("It crashed."))
    case "preliminary":
      return Effect.andThen(say(`${mark} begins`), Effect.andThen(Effect.sleep("2 seconds"), end))
  }
}

interface Context {
  readonly toolCallId?: string | undefined
  readonly preliminary: (value: { done: string }) => Effect.Effect<void>
}

const handler = ({ how }: { readonly how: string }, context: Context) =>
  Stage.run(context.toolCallId ?? "", undefined, (mark) => behave(how, mark, (done) => context.preliminary({ done })))

const booking = DeferredTool.handler(Book, {
  start: ({ how }, context) =>
    Stage.run(context.toolCallId ?? "", undefined, (_, started: Record.Run) =>
      Effect.suspend(() => {
        started.outcome = "suspended"
        return Book.suspend.sure({ prompt: "Sure?" }, { how })
      })),
  resume: {
    sure: ({ approved }, { how }, context) =>
      Stage.run(
        context.toolCallId ?? "",
        { isRefused: !approved },
        (mark) => behave(approved ? how : "quick", mark, (done) => context.preliminary({ done }))
      )
  }
})

const kit = Toolkit.make(Pay, Sync, Look, Book)

export type Kit = Toolkit.WithHandler<Toolkit.Tools<typeof kit>>

export const toolkit: Effect.Effect<Kit> = Effect.runSync(Effect.cached(
  Effect.provide(kit, kit.toLayer({ Pay: handler, Sync: handler, Look: handler, Book: booking }))
))
