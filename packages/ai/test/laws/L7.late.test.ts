/**
 * L7 a result that comes when the model has gone on is told where the prompt ends, by a note in the user's role: in the
 * turn, in the turn after, and after a reload; and its old place keeps what the model was told.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Prompt } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as Late from "./late.ts"

const usersOf = (history: Prompt.Prompt): ReadonlyArray<string> =>
  C.outline(history).filter((line) => line.startsWith("user:"))

describe("L7 a late result", () => {
  for (const [name, event] of Object.entries<Late.Event>(Late.events)) {
    for (const holder of Late.holders) {
      for (const method of Late.methods) {
        it.effect(`L6 L7 is told at the end, now and later: ${name} [${holder}, ${method}]`, () =>
          Effect.gen(function*() {
            const world = yield* Late.make(holder, method, [[event.call], "fine", "so it is", "bye", "yes", "sure"])
            const { runs, script, talk } = world
            yield* talk.say("go")
            yield* talk.say("meanwhile")
            yield* event.comes(world)
            yield* talk.say("thanks")
            assert.deepStrictEqual(runs, event.runs)
            const reloaded = yield* world.reload
            yield* reloaded.say("and?")
            yield* reloaded.say("sure?")
            assert.deepStrictEqual(runs, event.runs)

            const { ending, isFailure, result, tool } = event
            const note = C.lateNote({ tool, toolCallId: "c1", isFailure, ...ending ?? { result } })
            assert.deepStrictEqual(note.split("</late-tool-result>").length, 2, "it ends once")
            assert.strictEqual(note.split("\n").length, 4, "what the tool gave is one line")
            const requests = yield* script.requests
            const last = requests.at(-1)!.prompt
            assert.deepStrictEqual(C.outline(last), [
              "user:[go]",
              "assistant:[call c1]",
              "tool:[failure c1]",
              "user:[meanwhile]",
              "assistant:[fine]",
              `user:[${note}]`,
              "assistant:[so it is]",
              "user:[thanks]",
              "assistant:[bye]",
              "user:[and?]",
              "assistant:[yes]",
              "user:[sure?]"
            ])
            assert.deepStrictEqual(C.resultsOf(last).map(C.reasonOf), [event.told])
            // Each prompt is the one before with something behind it, in this process by the same objects.
            const outlines = requests.map(({ prompt }) => C.outline(prompt))
            for (const [index, outline] of outlines.entries()) {
              const before = requests[index - 1]?.prompt.content ?? []
              assert.deepStrictEqual(outlines.at(-1)!.slice(0, outline.length), outline)
              if (index !== 4) {
                for (const [at, one] of before.entries()) assert.isTrue(requests[index]!.prompt.content[at] === one)
              }
            }
            assert.deepStrictEqual(
              requests.map(({ incrementalPrompt }) => incrementalPrompt && C.outline(incrementalPrompt)),
              [
                undefined,
                ["tool:[failure c1]", "user:[meanwhile]"],
                [`user:[${note}]`],
                ["user:[thanks]"],
                undefined, // read anew
                ["user:[sure?]"]
              ]
            )
            // Nobody said the note, and nobody sees it.
            const history = yield* reloaded.history
            assert.deepStrictEqual(usersOf(history), usersOf(last).filter((line) => line !== `user:[${note}]`))
            assert.deepStrictEqual(C.resultsOf(history).map((part) => [part.isFailure, part.result]), [[
              isFailure,
              result
            ]])
          }).pipe(Effect.scoped))
      }
    }
  }
})
