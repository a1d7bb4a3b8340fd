/** The tool that needs approval, in the kits of upstream's programs. */
import { Tool, Toolkit } from "@assent/ai"
import { Effect, Schema } from "effect"

export const CancelOrder = Tool.make("CancelOrder", {
  description: "Cancels an order",
  parameters: { id: Schema.String },
  success: Schema.String,
  needsApproval: true
})

/** The orders that were cancelled. */
export const cancelled: Array<string> = []

export const handlers = {
  CancelOrder: ({ id }: { readonly id: string }) => Effect.sync(() => (cancelled.push(id), `cancelled ${id}`))
}

const kit = Toolkit.make(CancelOrder)

/** The kit of a program that has none, with its handlers. */
export const toolkit = Effect.provide(kit, kit.toLayer(handlers))
