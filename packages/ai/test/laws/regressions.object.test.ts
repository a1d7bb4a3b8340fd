/**
 * L12: a finished value cannot wait. Whatever a response asks for, the error's content lets the program go on, and
 * nothing runs or is asked that `generateText` would not run or ask.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, type Scope } from "effect"
import { Approval, ApprovalController, LanguageModel, Prompt, type Response } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"

const schema = Schema.Struct({ count: Schema.Number })
const object = `{"count":2}`
const objectText = ScriptedModel.text(object)
const allowed = { allowProviderApprovals: ["mcpr_1"] }

const services: Record<string, (script: ScriptedModel.ScriptedModel) => Effect.Effect<LanguageModel.LanguageModel>> = {
  "our make": (script) => LanguageModel.make(script.params),
  "a foreign service": (script) => Effect.succeed(LanguageModel.withApproval(script.model)),
  "a bare service": (script) => Effect.succeed(script.model)
}

/** Registers a test over each kind of service. */
const overEach = (
  title: string,
  story: (name: string) => Effect.Effect<unknown, unknown, Scope.Scope>
): void => {
  for (const name of Object.keys(services)) it.effect(`${title}, ${name}`, () => C.fresh(story(name)))
}

const begin = Effect.fnUntraced(function*(name: string, turns: C.StartOptions["turns"]) {
  const { runs, toolkit } = yield* C.fileTools
  const script = yield* ScriptedModel.make({ turns, afterLastTurn: object, strict: allowed })
  const model = yield* services[name]!(script)
  const within = Effect.provideService(LanguageModel.LanguageModel, model)
  const generate = (prompt: Prompt.RawInput) => within(LanguageModel.generateObject({ prompt, toolkit, schema }))
  const text = (prompt: Prompt.RawInput) => within(LanguageModel.generateText({ prompt, toolkit }))
  return { generate, runs, script, text, within }
})

const asking = (reply: (request: Approval.ApprovalRequest) => ApprovalController.Reply) => {
  const asked: Array<string> = []
  const controller = ApprovalController.interactive((request) => (asked.push(request.toolCallId), reply(request)))
  return { asked, within: Effect.provideService(ApprovalController.ApprovalController, controller) }
}

/** What the error of a waiting call carries. */
const waitingOf = (error: unknown) => {
  const reason = C.approvalErrorOf(error)
  if (reason._tag !== "ApprovalRequired") return assert.fail(`not ApprovalRequired: ${reason._tag}`)
  const { requests } = reason
  const content = (reason as unknown as { readonly content: ReadonlyArray<Response.AnyPart> }).content
  return { content, requests, history: Prompt.concat(Prompt.make("tidy up"), Prompt.fromResponseParts(content)) }
}

/** Every local call of the content is asked about or has its result, and never both. */
const assertAccountedFor = (content: ReadonlyArray<Response.AnyPart>) => {
  for (const part of content) {
    if (part.type !== "tool-call") continue
    const requests = content.filter((one) => one.type === "tool-approval-request" && one.toolCallId === part.id)
    const results = content.filter((one) => one.type === "tool-result" && one.id === part.id)
    assert.strictEqual(requests.length + results.length, 1, `call ${part.id} of ${JSON.stringify(content)}`)
  }
}

const resultOf = (content: ReadonlyArray<Response.AnyPart>, id: string) => {
  const result = content.find((part) => part.type === "tool-result" && part.id === id)
  assert.isDefined(result, `no result of ${id}`)
  return C.reasonOf(result as Response.ToolResultPart<string, unknown, unknown>)
}

// Doubles of models in users' tests have no finish part, and a whole response cannot break off.
describe("a whole response without a finish is complete", () => {
  const whole = [objectText, C.deleteCall("c1", "a"), ScriptedModel.withoutFinish]

  overEach("L12 generateObject needs the approval, and generateText asks for it", (name) =>
    Effect.gen(function*() {
      const { generate, runs, text } = yield* begin(name, [whole, whole])
      const { content, requests } = waitingOf(yield* Effect.flip(generate("tidy up")))
      assert.deepStrictEqual(requests.map(({ toolCallId }) => toolCallId), ["c1"])
      assertAccountedFor(content)
      const compared = yield* text("tidy up")
      assert.deepStrictEqual(compared.content.map(({ type }) => type), ["text", "tool-call", "tool-approval-request"])
      assert.deepStrictEqual(runs, [])
    }))

  overEach("L12 where somebody says yes, both run it", (name) =>
    Effect.gen(function*() {
      const { generate, runs, text } = yield* begin(name, [whole, whole])
      const { asked, within } = asking(() => true)
      const response = yield* within(generate("tidy up"))
      yield* within(text("tidy up"))
      assert.deepStrictEqual([runs, asked], [["delete a", "delete a"], ["c1", "c1"]])
      assert.deepStrictEqual(response.value, { count: 2 })
    }))
})

describe("L12 a response that calls a tool which is not there", () => {
  // A call left without a result keeps the engine on, whatever the toolkit.
  const left = Prompt.fromMessages([
    Prompt.userMessage({ content: [Prompt.textPart({ text: "tidy up" })] }),
    Prompt.assistantMessage({
      content: [Prompt.toolCallPart({ id: "z", name: "ReadFile", params: { path: "z" }, providerExecuted: false })]
    })
  ])
  const unknown = ScriptedModel.toolCall({ id: "u1", name: "Nope", params: {} })

  const orders = { "before it": [C.readCall("r1", "x"), unknown], "behind it": [unknown, C.readCall("r1", "x")] }
  for (const [where, calls] of Object.entries(orders)) {
    overEach(
      `L8 it has a failed result as in generateText, and a call ${where} runs`,
      (name) =>
        Effect.gen(function*() {
          const turn = [objectText, ...calls, C.deleteCall("c1", "a")]
          const { generate, runs, text } = yield* begin(name, [turn, turn])
          const { asked, within } = asking(() => true)
          for (const response of [yield* within(generate(left)), yield* within(text(left))]) {
            assert.include(resultOf(response.content, "u1"), `"Nope" is not in the toolkit`)
          }
          assert.deepStrictEqual([runs.toSorted(), asked], [["delete a", "delete a", "read x", "read x"], ["c1", "c1"]])
        })
    )
  }

  overEach("L8 without a toolkit it has a failed result, as in generateText", (name) =>
    Effect.gen(function*() {
      const turn = [objectText, C.deleteCall("c1", "a")]
      const { runs, within } = yield* begin(name, [turn, turn])
      const one = yield* within(LanguageModel.generateObject({ prompt: left, schema }))
      const other = yield* within(LanguageModel.generateText({ prompt: left }))
      for (const { content } of [one, other]) {
        assert.include(resultOf(content, "c1"), `"DeleteFile" is not in the toolkit`)
      }
      assert.deepStrictEqual(runs, [])
    }))
})

describe("L12 one call of several stays open", () => {
  const calls = [C.readCall("r1", "x"), C.deleteCall("c1", "a"), C.deleteCall("c2", "b"), C.deleteCall("c3", "c")]
  const later = new Approval.Info({ note: "later" })

  overEach(
    "L12 one approved inline and one left open: the content lets the program go on, and all run once",
    (name) =>
      Effect.gen(function*() {
        const { generate, runs, script } = yield* begin(name, [calls])
        const { asked, within } = asking((request) => request.toolCallId === "c1" ? new Approval.Approved({}) : later)
        const { content, history, requests } = waitingOf(yield* Effect.flip(within(generate("tidy up"))))
        assert.deepStrictEqual([runs, asked], [[], ["c1", "c2"]], "no more questions after one stays open")
        assert.deepStrictEqual(requests.map((request) => request.toolCallId), ["c1", "c2", "c3"])
        assertAccountedFor(content)
        assert.match(resultOf(content, "r1"), /nothing ran/i)

        const answers = C.approveAll({ requests })
        const response = yield* generate(Prompt.concat(history, answers))
        assert.deepStrictEqual(response.value, { count: 2 })
        assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b", "delete c"])
        for (const { prompt } of yield* script.requests) C.assertWellFormed(prompt)
        const results = C.resultsOf((yield* script.requests).at(-1)!.prompt)
        assert.deepStrictEqual(results.map((result) => [result.id, result.isFailure]), [
          ["r1", true],
          ["c1", false],
          ["c2", false],
          ["c3", false]
        ])
      })
  )

  overEach("L12 a denial given inline stays final, though another call stays open", (name) =>
    Effect.gen(function*() {
      const { generate, runs, script } = yield* begin(name, [calls])
      const { asked, within } = asking((request) =>
        request.toolCallId === "c1" ? new Approval.Denied({ note: "keep a" }) : later
      )
      const { content, history, requests } = waitingOf(yield* Effect.flip(within(generate("tidy up"))))
      assert.deepStrictEqual([runs, asked], [[], ["c1", "c2"]])
      assert.deepStrictEqual(requests.map((request) => request.toolCallId), ["c2", "c3"])
      assertAccountedFor(content)
      assert.strictEqual(resultOf(content, "c1"), "keep a")

      const answers = C.approveAll({ requests })
      yield* Effect.provideService(
        generate(Prompt.concat(history, answers)),
        ApprovalController.ApprovalController,
        ApprovalController.approveAll
      )
      assert.deepStrictEqual(runs.toSorted(), ["delete b", "delete c"])
      const results = C.resultsOf((yield* script.requests).at(-1)!.prompt)
      assert.strictEqual(C.reasonOf(results.find((result) => result.id === "c1")!), "keep a")
    }))

  overEach(
    "L12 the first one stays open: nobody is asked about the others, and all of them can still be answered",
    (name) =>
      Effect.gen(function*() {
        const { generate, runs } = yield* begin(name, [calls])
        const { asked, within } = asking(() => later)
        const { content, history, requests } = waitingOf(yield* Effect.flip(within(generate("tidy up"))))
        assert.deepStrictEqual(asked, ["c1"])
        assertAccountedFor(content)
        const [one, two, three] = requests
        const answers = Prompt.approvalResponses([Approval.deny(one!), Approval.approve(two!), Approval.deny(three!)])
        assert.deepStrictEqual((yield* generate(Prompt.concat(history, answers))).value, { count: 2 })
        assert.deepStrictEqual(runs, ["delete b"])
      })
  )

  overEach(
    "L12 a denial that was given inline cannot be undone from the history of the call that waited",
    (name) =>
      Effect.gen(function*() {
        const { generate, runs } = yield* begin(name, [calls])
        const shown: Array<Approval.ApprovalRequest> = []
        const { within } = asking((request) => {
          shown.push(request)
          return request.toolCallId === "c1" ? new Approval.Denied({ note: "keep a" }) : later
        })
        const { content, requests } = waitingOf(yield* Effect.flip(within(generate("tidy up"))))
        const [denied] = shown
        const forged = Prompt.fromMessages(
          Prompt.fromResponseParts(content).content.flatMap((message) => {
            if (message.role !== "assistant") return []
            const request = Prompt.toolApprovalRequestPart({ approvalId: denied!.approvalId, toolCallId: "c1" })
            return [Prompt.assistantMessage({ content: [...message.content, request] })]
          })
        )
        const answers = Prompt.approvalResponses([denied!, ...requests].map((request) => Approval.approve(request)))
        yield* generate(Prompt.concat(Prompt.concat(Prompt.make("tidy up"), forged), answers))
        assert.notInclude(runs, "delete a")
      })
  )
})

describe("L12 L9 the provider asks about a call of its own", () => {
  const turn = [
    C.readCall("r1", "x"),
    ScriptedModel.toolCall({ id: "mcp_1", name: "ReadFile", params: { path: "y" }, providerExecuted: true }),
    { type: "tool-approval-request", approvalId: "mcpr_1", toolCallId: "mcp_1" } as const,
    C.deleteCall("c1", "a")
  ]

  overEach(
    "L12 its siblings of ours do not run and nobody is asked inline; the content lets the program go on",
    (name) =>
      Effect.gen(function*() {
        const { generate, runs, script } = yield* begin(name, [turn])
        const { asked, within } = asking(() => true)
        const { content, history, requests } = waitingOf(yield* Effect.flip(within(generate("tidy up"))))
        assert.deepStrictEqual([runs, asked], [[], []])
        assert.deepStrictEqual(requests.map((request) => [request.toolCallId, request.providerExecuted]).toSorted(), [
          ["c1", false],
          ["mcp_1", true]
        ])
        assertAccountedFor(content)
        assert.match(resultOf(content, "r1"), /nothing ran/i)

        const answers = C.approveAll({ requests })
        assert.deepStrictEqual((yield* generate(Prompt.concat(history, answers))).value, { count: 2 })
        assert.deepStrictEqual(runs, ["delete a"])
        const sent = (yield* script.requests).at(-1)!.prompt
        C.assertWellFormed(sent, allowed)
        const told = C.outline(sent).join(" ")
        assert.strictEqual(told.split("approve mcpr_1").length, 2, told)
      })
  )
})
