/**
 * L15 no sentence that the engine writes for a model names a path, a key, a setting, or what a program is to do: what its
 * developers need is in a log or an event.
 */
import { assert, describe, it } from "@effect/vitest"
import { ApprovalError } from "../../src/index.ts"
import * as Words from "../../src/internal/decide/words.ts"
import * as Proof from "../../src/internal/gather/proof.ts"
import * as Results from "../../src/internal/history/results.ts"
import * as JournalWords from "../../src/internal/journal/words.ts"
import { forDevelopers } from "./sentences.ts"

const approvalId = "apr1.key.nonce"

const excess = ["bytes", "depth", "unwritable"] as const

const reasonOf = ({ result }: { readonly result: unknown }): string => (result as { readonly reason: string }).reason

type Sentences = ReadonlyArray<readonly [name: string, sentence: string]>

const textsOf = (module: object): Sentences =>
  Object.entries(module).filter((entry): entry is [string, string] => typeof entry[1] === "string")

const sentences: Sentences = [
  ...textsOf(Words),
  ...textsOf(Words.open),
  ...textsOf(Results),
  // With what else a journal fails the program alone is told.
  ...textsOf(JournalWords).filter(([name]) => name === "interruptedReason" || name === "lostReason"),
  ["an unknown tool", Words.unknownTool("Delete", ["ReadFile"])],
  ["an unknown tool, and there is none", Words.unknownTool("Delete", [])],
  ["what it did stands", Words.stands("It is gone.")],
  ...excess.flatMap((how) =>
    [true, false].map((isFailure): readonly [string, string] => [
      `a result out of bounds: ${how}, failed: ${isFailure}`,
      reasonOf(Results.leftOut({ isFailure }, how, 10_485_760))
    ])
  ),
  ...[
    new ApprovalError.Forged({ approvalId }),
    new ApprovalError.Malformed({ approvalId }),
    new ApprovalError.UnknownKey({ approvalId, keyId: "secret-key" }),
    new ApprovalError.Drifted({ toolName: "Delete", description: "Its parameters changed." }),
    new ApprovalError.Expired({ approvalId, expiredAt: 0 })
  ].flatMap((reason) =>
    [true, false].map((begun): readonly [string, string] => [
      `${reason._tag}, begun: ${begun}`,
      Proof.refusal(reason, begun)
    ])
  )
]

describe("L15 what a model is told by the engine", () => {
  it("is many sentences", () => {
    assert.isAbove(sentences.length, 30)
  })

  for (const [name, sentence] of sentences) {
    it(`L15 says nothing that is for developers: ${name}`, () => {
      assert.notMatch(sentence, forDevelopers)
      assert.notInclude(sentence, "secret-key")
    })
  }
})
