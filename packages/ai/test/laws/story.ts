/** What a test tells: a generator, or an effect where something is put around it. */
import { Effect, type Scope } from "effect"

export type Story<Args extends ReadonlyArray<unknown> = []> = (
  ...args: Args
) =>
  | Effect.Effect<unknown, unknown, Scope.Scope>
  | Generator<Effect.Effect<unknown, unknown, Scope.Scope>, unknown, never>

export const tell = <Args extends ReadonlyArray<unknown>>(
  story: Story<Args>,
  ...args: Args
): Effect.Effect<unknown, unknown, Scope.Scope> =>
  Effect.suspend(() => {
    const told = story(...args)
    return Effect.isEffect(told) ? told : Effect.gen(() => told)
  })

/** How a program holds a conversation: with our functions, or with upstream's `Chat` over them. */
export const ways = ["generateText", "streamText", "Chat.generateText", "Chat.streamText"] as const

export type Way = (typeof ways)[number]
