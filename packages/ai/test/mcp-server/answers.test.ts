/**
 * Elicitation: our server asks the user of its client, and the client is the one of `@modelcontextprotocol/sdk`. Only a
 * clear yes lets the tool run; whatever else comes back is a denial that says what it was (law L1).
 */
import { assert, describe, it } from "@effect/vitest"
import type { ClientCapabilities, ElicitResult } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Exit, Layer } from "effect"
import { McpServer as Upstream } from "effect/ai"
import { McpApproval, McpProtocol } from "../../src/index.ts"
import * as Asking from "../../src/internal/asking/asking.ts"
import * as S from "./support.ts"

const params = { path: "/tmp/a" }

/** What the client is told, and what ran, when its user answers so. */
const answered = (
  answer: ElicitResult,
  capabilities?: ClientCapabilities,
  protocol: McpProtocol.ProtocolAdapter = McpProtocol.v2025_11_25
) =>
  Effect.gen(function*() {
    const server = yield* S.serve(S.files(), [protocol])
    const { asked, call } = yield* S.connect(server, () => answer, capabilities)
    return { asked, result: yield* call("delete_file", params), runs: server.runs }
  })

describe("L1 the user of the client answers", () => {
  it.live("accept: what was shown runs, once, and the client has its result", () =>
    Effect.gen(function*() {
      const { asked, result, runs } = yield* answered(S.approve)
      assert.deepStrictEqual(result.structured, { deleted: "/tmp/a" })
      assert.isFalse(result.isError)
      assert.strictEqual(asked.length, 1)
      assert.strictEqual(
        asked[0]!.message,
        "The tool \"delete_file\" wants to run with exactly these parameters:\n\n    {\n      \"path\": \"/tmp/a\"\n    }"
      )
      assert.deepStrictEqual(asked[0]!.requestedSchema.required, ["decision"])
      assert.deepStrictEqual(asked[0]!.requestedSchema.properties.decision, {
        type: "string",
        title: "Decision",
        oneOf: [{ const: "approve", title: "Approve" }, { const: "deny", title: "Deny" }]
      })
      assert.deepStrictEqual(runs, ["delete /tmp/a"])
    }))

  it.live("the same call again is a new call: asked again", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const answers = [S.approve, S.approve, S.accept({ decision: "deny" })]
      const { asked, call } = yield* S.connect(server, () => answers.shift()!)
      yield* call("delete_file", params)
      yield* call("delete_file", params)
      assert.isTrue((yield* call("delete_file", params)).isError)
      assert.strictEqual(asked.length, 3)
      assert.deepStrictEqual(server.runs, ["delete /tmp/a", "delete /tmp/a"])
    }))

  it.live("a tool without a gate runs without a question, as upstream's", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const { asked, call } = yield* S.connect(server, () => S.approve)
      assert.strictEqual((yield* call("look", params)).text, "content of /tmp/a")
      assert.deepStrictEqual([asked, server.runs], [[], ["look /tmp/a"]])
    }))

  it.live("effect/ai's McpServer.toolkit, which would run a gated tool and ask nobody, does not start", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(
        S.serve(Upstream.toolkit(S.Files).pipe(Layer.provide(S.FilesLive)))
      )
      assert.include(
        String(Exit.isFailure(exit) && exit.cause),
        "import Toolkit from @assent/ai, and McpServer too if it is served over MCP."
      )
    }))

  const denials: Record<string, { readonly answer: ElicitResult; readonly reason: string }> = {
    "decline: the denial says declined": {
      answer: { action: "decline" },
      reason: "The user declined this call."
    },
    "cancel: the denial says dismissed without a decision": {
      answer: { action: "cancel" },
      reason: "The user dismissed the question without a decision, so nothing was approved."
    },
    "accept, and deny: the denial has the reason that was given": {
      answer: S.accept({ decision: "deny", reason: " not that one " }),
      reason: "not that one"
    },
    "accept, and deny without a reason": {
      answer: S.accept({ decision: "deny", reason: "  " }),
      reason: "The user denied this call."
    },
    "accept, and deny with a longer reason than was asked for": {
      answer: S.accept({ decision: "deny", reason: "x".repeat(1_500) }),
      reason: `${"x".repeat(1_000)}… (500 more characters)`
    },
    "accept without content is no approval": {
      answer: { action: "accept" },
      reason: "The client accepted the question, but sent no answer, so nothing was approved."
    },
    "accept with empty content is no approval": { answer: S.accept({}), reason: notUnderstood() },
    "accept with another decision is no approval": {
      answer: S.accept({ decision: "approve, but not now" }),
      reason: notUnderstood()
    },
    "accept with true for a decision is no approval": {
      answer: S.accept({ decision: true }),
      reason: notUnderstood()
    },
    "accept with several decisions is no approval": {
      answer: S.accept({ decision: ["approve"] }),
      reason: notUnderstood()
    },
    "accept with a reason that is no text is no approval": {
      answer: S.accept({ decision: "approve", reason: 1 }),
      reason: notUnderstood()
    },
    "accept with content that was not asked for is no approval": {
      answer: S.accept({ decision: "approve", params: "{\"path\":\"/etc\"}" }),
      reason: notUnderstood()
    },
    "accept for the session, where that was not offered, is no approval": {
      answer: S.accept({ decision: "approve_for_session" }),
      reason: notUnderstood()
    }
  }
  for (const [title, { answer, reason }] of Object.entries(denials)) {
    it.live(title, () =>
      Effect.gen(function*() {
        const { asked, result, runs } = yield* answered(answer)
        assert.deepStrictEqual(JSON.parse(result.text), { type: "execution-denied", reason })
        assert.isTrue(result.isError)
        assert.strictEqual(asked.length, 1)
        assert.deepStrictEqual(runs, [])
      }))
  }

  it.live("accept with what is no content at all: nothing runs, and it may be asked again", () =>
    Effect.gen(function*() {
      // The client itself refuses to send it, and says that it failed.
      const garbage = { action: "accept", content: { decision: { approve: true } } } as unknown as ElicitResult
      const { result, runs } = yield* answered(garbage)
      assert.match(S.reasonOf(result), /could not be asked, or the answer could not be read.*asked again/)
      assert.deepStrictEqual(runs, [])
    }))

  it.live("a client that fails: nothing runs, and it may be asked again", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const { call } = yield* S.connect(server, () => Promise.reject(new Error("no screen")))
      const result = yield* call("delete_file", params)
      assert.match(S.reasonOf(result), /could not be asked.*asked again/)
      assert.notInclude(result.text, "no screen")
      assert.deepStrictEqual(server.runs, [])
    }))
})

describe("L1 a client that cannot ask its user", () => {
  const lacking: Record<string, {
    readonly capabilities?: ClientCapabilities
    readonly protocol?: McpProtocol.ProtocolAdapter
    readonly reason: RegExp
  }> = {
    "without elicitation: the denial says what the client lacks": {
      capabilities: {},
      reason: /the client does not offer the capability "elicitation"/
    },
    "with elicitation by url alone: the denial says so": {
      capabilities: { elicitation: { url: {} } },
      reason: /only by URL, and not by form/
    },
    "of a revision before elicitation: the denial says so": {
      protocol: McpProtocol.v2025_03_26,
      reason: /the client speaks MCP 2025-03-26, but elicitation needs 2025-06-18 or later/
    },
    "of the first revision: the denial says so": {
      protocol: McpProtocol.v2024_11_05,
      reason: /the client speaks MCP 2024-11-05, but elicitation needs 2025-06-18 or later/
    }
  }
  for (const [title, { capabilities, protocol, reason }] of Object.entries(lacking)) {
    it.live(title, () =>
      Effect.gen(function*() {
        const { asked, result, runs } = yield* answered(S.approve, capabilities, protocol)
        assert.match(S.reasonOf(result), reason)
        assert.deepStrictEqual([asked, runs], [[], []])
      }))
  }

  it.live("of those with elicitation by form is asked, whatever else it offers", () =>
    Effect.gen(function*() {
      for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }]) {
        const { asked, runs } = yield* answered(S.approve, { elicitation })
        assert.deepStrictEqual([asked.length, runs], [1, ["delete /tmp/a"]])
      }
    }))

  it.live("of the first revision with elicitation writes its decision, for upstream loses the options", () =>
    Effect.gen(function*() {
      const { asked, result, runs } = yield* answered(
        S.accept({ decision: " Approve" }),
        undefined,
        McpProtocol.v2025_06_18
      )
      assert.deepStrictEqual(asked[0]!.requestedSchema.properties.decision, {
        type: "string",
        title: "Decision",
        description: "Write \"approve\" (Approve) or \"deny\" (Deny)."
      })
      assert.isFalse(result.isError)
      assert.deepStrictEqual(runs, ["delete /tmp/a"])
    }))

  it.effect("outside of any client's request there is nobody to ask", () =>
    Effect.gen(function*() {
      const reply = yield* Asking.ask(McpApproval.elicitation(), S.request({}), { remembers: undefined })

      assert.strictEqual(reply?.decision._tag, "Denied")
      assert.match(String(reply?.decision.note), /there is nobody to ask: it belongs to no request of an MCP client/)
    }))
})

function notUnderstood(): string {
  return "The client accepted the question, but its answer does not fit the question, so nothing was approved."
}
