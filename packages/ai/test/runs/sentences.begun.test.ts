/** L14: a tool that had begun is never told as "Nothing ran. Ask again.", whatever ends it while it waits. */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  DeferredTool,
  Interaction,
  LanguageModel,
  Prompt,
  Store
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failureReason } from "../laws/support.ts"
import * as R from "./support.ts"

/** Has sent something, and asks for more. */
const book = (parameters: { readonly [name: string]: Schema.Constraint }, stateVersion: number) =>
  DeferredTool.make("Book", {
    parameters,
    success: Schema.String,
    state: Schema.String,
    stateVersion,
    // No text of the user answers it.
    interactions: { guest: Interaction.form(Schema.Struct({ name: Schema.String })) }
  })

const Book = book({ room: Schema.String }, 1)
const call = ScriptedModel.toolCall({ id: "book-1", name: "Book", params: { room: "12" } })

const kit = (steps: Array<string>, tool = Book): Pick<R.Options, "more" | "handlers" | "controller"> => ({
  more: [tool],
  controller: ApprovalController.deferred,
  handlers: {
    Book: DeferredTool.handler(tool, {
      start: () =>
        Effect.andThen(
          Effect.sync(() => steps.push("start")),
          tool.suspend.guest({ prompt: "For whom?", expiresIn: "1 day" }, "reserved")
        ),
      resume: { guest: ({ name }) => Effect.as(Effect.sync(() => steps.push("guest")), name) }
    }) as R.Handler
  }
})

/** The tool waits; the same history goes on in another program, where something is otherwise. */
const waiting = Effect.fnUntraced(function*(way: R.Way) {
  const steps: Array<string> = []
  const world = yield* R.make(way, { turns: [[call]], ...kit(steps) })
  yield* world.begin
  const history = yield* world.history
  const open = world.conversation === undefined
    ? LanguageModel.collectToolApprovals(history.content).pending[0]!
    : (yield* world.conversation.pending())[0]!
  const reopened = (otherwise: Partial<R.Options>) =>
    R.make(way, { turns: [], store: world.store, history, ...kit(steps), ...otherwise })
  return { open, reopened, steps, world }
})

type Story = Effect.Success<ReturnType<typeof waiting>>

const answer = (world: R.World, given: Approval.ApprovalAnswer): Effect.Effect<unknown, unknown> =>
  world.conversation === undefined
    ? world.say(Prompt.approvalResponses([given]))
    : world.serving(world.conversation.decide(given))

/** What ends it; of each, the program in whose next turn the model reads of it. */
const ends: { readonly [what: string]: (story: Story) => Effect.Effect<R.World, unknown, any> } = {
  "nobody answered in time": ({ world }) => Effect.as(TestClock.adjust("2 days"), world),
  "the user says something new": ({ world }) => Effect.succeed(world),
  "the user will not say": ({ open, world }) => Effect.as(Effect.exit(answer(world, Approval.deny(open))), world),
  "the tool is not in the toolkit any more": ({ reopened }) => reopened({ more: [] }),
  "its parameters are others by now": ({ reopened, steps }) =>
    reopened(kit(steps, book({ room: Schema.String, floor: Schema.Number }, 1) as typeof Book)),
  "its state is of another version": ({ open, reopened, steps }) =>
    Effect.tap(
      reopened(kit(steps, book({ room: Schema.String }, 2) as typeof Book)),
      (world) => Effect.exit(answer(world, Approval.answer(open, { name: "Ada" })))
    ),
  "what it remembers is lost": ({ open, reopened }) =>
    Effect.gen(function*() {
      const world = yield* reopened({ waitingIn: yield* Store.makeMemory() })
      yield* Effect.exit(answer(world, Approval.answer(open, { name: "Ada" })))
      return world
    }),
  "the key is another one": ({ open, reopened }) =>
    Effect.tap(
      reopened({ key: "another key of the tests of runs, 32 bytes" }),
      (world) => Effect.exit(answer(world, Approval.answer(open, { name: "Ada" })))
    )
}

describe("a tool that had begun and waits", () => {
  for (const [what, end] of Object.entries(ends)) {
    R.inWays(`is not told as "Nothing ran. Ask again." where ${what}`, function*(way) {
      const story = yield* waiting(way)
      const world = yield* end(story)
      yield* world.say("And now?")
      const reason = failureReason(yield* R.toldOf(world, "book-1"))
      assert.notMatch(reason, /nothing ran/i)
      assert.notMatch(reason, /\bAsk again\b/)
      // A person's "no" is final; all else says that something was done.
      if (what !== "the user will not say") assert.match(reason, /begun|began|did before|went on|not undone/i)
      assert.deepStrictEqual(story.steps, ["start"])
    }, R.askingWays)
  }
})
