/** A use of what is remembered is taken by a call that runs, and by nothing else. */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ApprovalMatcher, LanguageModel } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const everyFile = { covers: ApprovalMatcher.tool.description, uses: 1 }

const usesLeft = Effect.map(M.listed(), (all) => all.map(({ uses }) => uses))

describe("memory: uses that are not taken", () => {
  M.everyWay("by a response that is cut short: nothing runs, and nothing is used up", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [[C.deleteCall("c1", "a")], [C.deleteCall("c2", "b"), ScriptedModel.finish("length")]]
    })
    yield* M.person(() => M.yes(everyFile)).answers(chat.send("one"))
    yield* chat.send("two")
    assert.deepStrictEqual([runs, yield* usesLeft], [["delete a"], [1]])
  })

  M.everyWay("by a turn whose calls the caller resolves itself", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")]] })
    yield* M.person(() => M.yes(everyFile)).answers(chat.send("one"))
    const script = yield* ScriptedModel.make({ turns: [[C.deleteCall("c2", "b")]] })
    const request = { prompt: "two", toolkit, disableToolCallResolution: true } as const
    yield* (way.endsWith("generateText")
      ? Effect.asVoid(LanguageModel.generateText(request))
      : Stream.runDrain(LanguageModel.streamText(request))).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model)
      )
    assert.deepStrictEqual([runs, yield* usesLeft], [["delete a"], [1]])
  })

  M.everyWay("by a call whose parameters do not fit", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [[C.deleteCall("c1", "a")], [{ type: "tool-call", id: "c2", name: "DeleteFile", params: { path: 7 } }]]
    })
    yield* M.person(() => M.yes(everyFile)).answers(chat.send("one"))
    yield* chat.send("two")
    assert.deepStrictEqual([runs, yield* usesLeft], [["delete a"], [1]])
  })
})
