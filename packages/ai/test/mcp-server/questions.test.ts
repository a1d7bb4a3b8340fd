/**
 * What the user of a client is asked: everything that will run, escaped and never cut (law L15), in the fields that the
 * protocol has; for tools that wait, too. The client here is what a handler finds of one.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  Approval,
  ApprovalController,
  DeferredTool,
  Interaction,
  LanguageModel,
  McpApproval,
  McpSchema,
  McpServer,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as Asking from "../../src/internal/asking/asking.ts"
import * as Request from "../../src/internal/gather/request.ts"
import * as Presentation from "../../src/internal/tool/presentation.ts"
import * as Interactions from "../../src/internal/waiting/interaction.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as S from "./support.ts"

/** Asks a client that answers so, and gives what it was asked. */
const ask = Effect.fnUntraced(function*(
  request: Approval.ApprovalRequest,
  answer: typeof McpSchema.ElicitResult.Type = new McpSchema.ElicitAcceptResult({ action: "accept", content: {} }),
  options: McpApproval.ElicitationOptions & { readonly revision?: "2025-06-18" | "2025-11-25" } = {}
) {
  const asked: Array<McpSchema.ElicitRequestFormParams> = []
  const clientInfo = { name: "test", version: "1.0.0" }
  const clientCapabilities = { elicitation: {} }
  const protocolVersion = options.revision ?? "2025-11-25"
  const client = McpSchema.McpServerClient.of({
    clientId: 0,
    protocolVersion,
    clientCapabilities,
    clientInfo,
    initializePayload: { protocolVersion, capabilities: clientCapabilities, clientInfo },
    getClient: Effect.succeed({
      listRoots: () => Effect.die("not asked for"),
      createMessage: () => Effect.die("not asked for"),
      elicit: (params) => Effect.sync(() => (asked.push(params as McpSchema.ElicitRequestFormParams), answer))
    })
  })
  const decision = yield* Effect.provideService(
    Asking.ask(McpApproval.elicitation(options), request, { remembers: yield* ApprovalController.Remembers }),
    McpSchema.McpServerClient,
    client
  )
  return { decision: decision!.decision, asked }
})

const fieldsOf = ([asked]: ReadonlyArray<McpSchema.ElicitRequestFormParams>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(asked?.requestedSchema.properties))

const accept = (content: McpSchema.ElicitAcceptResult["content"]) =>
  new McpSchema.ElicitAcceptResult({ action: "accept", content })

describe("L15 the question", () => {
  const hostile = "x\u202E\u200B\n\nThe tool \"look\" wants to run\r\n```\n**approved**\u001b[2J\u2028\u{e0041}"

  it.effect("hostile text in parameters stays in its place, visible", () =>
    Effect.gen(function*() {
      const { asked } = yield* ask(S.request({ params: { [hostile]: hostile, path: "/tmp/a" } }))
      const { message } = asked[0]!
      assert.notMatch(message.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      const lines = message.split("\n")
      assert.deepStrictEqual(lines.filter((line) => line !== "" && !line.startsWith("    ")), [
        "The tool \"delete_file\" wants to run with exactly these parameters:"
      ])
      const [first, ...rest] = lines.filter((line) => line.startsWith("    ")).map((line) => line.slice(4))
      assert.strictEqual(first, "{")
      assert.include(rest.join("\n"), "\\u202e\\u200b\\n\\nThe tool \\\"look\\\" wants to run\\r\\n```\\n**approved**")
    }))

  it.effect("hostile text in what is shown cannot pass for what we say", () =>
    Effect.gen(function*() {
      const { asked } = yield* ask(
        S.request({
          presentation: new Approval.ApprovalPresentation({
            type: "text",
            content: "fine\n\nDescription: harmless\u202E",
            metadata: { file: "a\nb" }
          }),
          reason: "![safe](https://example.com/a)",
          approvers: ["ada\u202E", "bob"]
        }),
        undefined,
        { by: { id: "bob" } }
      )
      const ours = asked[0]!.message.split("\n").filter((line) => line !== "" && !line.startsWith("    "))
      assert.deepStrictEqual(ours, [
        "The tool \"delete_file\" wants to run with exactly these parameters:",
        "You are asked because:",
        "To be decided by: ada\\u202e or bob",
        "What it does (text):"
      ])
      assert.include(asked[0]!.message, "    Description: harmless\\u202e\n\n    {\n      \"file\": \"a\\nb\"\n    }")
    }))

  it.effect("nor can the language of what is shown", () =>
    Effect.gen(function*() {
      for (
        const [language, kind] of [["c++", "diff c++"], ["ts): fine. [more](https://example.com", "diff"]] as const
      ) {
        const presentation = new Approval.ApprovalPresentation({ type: "diff", language, content: "- a" })
        const { asked } = yield* ask(S.request({ presentation }))
        assert.include(asked[0]!.message, `\nWhat it does (${kind}):\n`)
        assert.notInclude(asked[0]!.message, "example.com")
      }
    }))

  it.effect("nor can names, nor what an approval for the session covers", () =>
    Effect.gen(function*() {
      const request = S.request({
        toolName: "copy\" wants to run harmlessly. \u202E\n",
        session: "any call of it whose path is `/tmp`\u202E\n\n![](https://example.com/a)"
      })
      // What the engine says while it asks.
      const remembers = Effect.provideService(ApprovalController.Remembers, "conversation" as const)
      const { asked } = yield* remembers(ask(request))
      const lines = asked[0]!.message.split("\n")
      assert.deepStrictEqual(lines.filter((line) => line !== "" && !line.startsWith("    ")), [
        "The tool \"copy\\\" wants to run harmlessly. \\u202e\\u000a\" wants to run with exactly these parameters:",
        "\"Approve for this session\" covers, until it ends:"
      ])
      assert.deepStrictEqual(lines.slice(-3), [
        "    any call of it whose path is `/tmp`\\u202e",
        "    ",
        "    ![](https://example.com/a)"
      ])
    }))

  it.effect("what is too long to be shown whole is denied, and says so; nobody is asked", () =>
    Effect.gen(function*() {
      const { asked, decision } = yield* ask(S.request({ params: { path: "x".repeat(20_000) } }))
      assert.strictEqual(decision._tag, "Denied")
      assert.match(String(decision.note), /the question would be 20\d\d\d characters long, of which at most 20000/)
      assert.deepStrictEqual(asked, [])
      const longer = yield* ask(S.request({ params: { path: "x".repeat(20_000) } }), accept({ decision: "approve" }), {
        maxLength: 30_000
      })
      assert.strictEqual(longer.decision._tag, "Approved")
      assert.include(longer.asked[0]!.message, "x".repeat(20_000))
      // What a presentation shows is cut before it comes here, so that no option lets more through.
      const content = "x".repeat(150_000)
      const presentation = new Approval.ApprovalPresentation({ type: "text", content })
      const cut = yield* ask(
        S.request({
          ...Request.makeRequest(
            { scope: {} },
            { approvalId: "id-1" },
            { toolCallId: "call-1", toolName: "x", encoded: {} },
            Presentation.sanitized(new Approval.NeedsApproval({ presentation }))
          )
        }),
        accept({ decision: "approve" }),
        { maxLength: 1_000_000 }
      )
      assert.match(String(cut.decision.note), /of which at most 100000/)
      assert.deepStrictEqual(cut.asked, [])
      // Its fields are shown with it.
      const options = Array.from({ length: 50 }, (_, index) => ({ value: String(index), label: "x".repeat(500) }))
      const awaited = new Approval.Awaited({ name: "one", kind: "selectOptions", answerSchema: {}, options })
      const choices = yield* ask(S.request({ interaction: "selectOptions", awaited }))
      assert.match(String(choices.decision.note), /of which at most 20000/)
      assert.deepStrictEqual(choices.asked, [])
    }))

  it.effect("offers no edits, and nothing but primitives, without a default", () =>
    Effect.gen(function*() {
      const { asked } = yield* ask(S.request({ editable: true, rememberable: true }))
      const { properties, required } = asked[0]!.requestedSchema
      assert.deepStrictEqual(Object.keys(properties), ["decision", "reason"])
      assert.deepStrictEqual(required, ["decision"])
      assert.isTrue(Object.values(properties).every((field) => field.type === "string" && field.default === undefined))
    }))
})

describe("what a tool that waits asks", () => {
  const awaiting = (awaited: Omit<ConstructorParameters<typeof Approval.Awaited>[0], "name">) =>
    S.request({
      interaction: awaited.kind,
      awaited: new Approval.Awaited({ name: "more", ...awaited })
    })

  it.effect("askUser is a text", () =>
    Effect.gen(function*() {
      const request = awaiting({ kind: "askUser", prompt: "Which\nname?", answerSchema: { type: "string" } })
      const { asked, decision } = yield* ask(request, accept({ answer: "a.txt" }))
      assert.deepStrictEqual(decision, new Approval.Approved({ answer: "a.txt" }))
      assert.match(asked[0]!.message, /^The tool "delete_file", which is running with these parameters:\n\n/)
      assert.include(asked[0]!.message, "asks:\n\n    Which\n    name?")
      for (const content of [{}, undefined]) {
        assert.strictEqual((yield* ask(request, accept(content))).decision._tag, "Denied")
      }
      assert.strictEqual(
        (yield* ask(request, new McpSchema.ElicitDeclineResult({ action: "decline" }))).decision._tag,
        "Denied"
      )
    }))

  it.effect("getApproval is a yes or no", () =>
    Effect.gen(function*() {
      const request = awaiting({ kind: "getApproval", prompt: "$500?", answerSchema: {} })
      const { decision } = yield* ask(request, accept({ decision: "approve", reason: "fine" }))
      assert.strictEqual(decision._tag, "Approved")
      assert.strictEqual(decision.note, "fine")
      const blank = yield* ask(request, accept({ decision: "approve", reason: " " }))
      assert.isUndefined(blank.decision.note)
      assert.strictEqual((yield* ask(request, accept({ decision: "yes" }))).decision._tag, "Denied")
    }))

  const options = [{ value: "a", label: "A", description: "the first" }, { value: "b", label: "B" }]

  it.effect("selectOptions is one of its options, or several", () =>
    Effect.gen(function*() {
      const one = awaiting({ kind: "selectOptions", options, answerSchema: { type: "string" } })
      const { asked, decision } = yield* ask(one, accept({ answer: "b" }))
      assert.deepStrictEqual(decision, new Approval.Approved({ answer: "b" }))
      const titled = [{ const: "a", title: "A: the first" }, { const: "b", title: "B" }]
      assert.deepStrictEqual(fieldsOf(asked).answer, {
        type: "string",
        title: "Answer",
        oneOf: titled
      })
      const many = awaiting({ kind: "selectOptions", options, multiple: true, answerSchema: {} })
      const several = yield* ask(many, accept({ answer: ["a", "b"] }))
      assert.deepStrictEqual(several.decision, new Approval.Approved({ answer: ["a", "b"] }))
      assert.deepStrictEqual(fieldsOf(several.asked).answer, {
        type: "array",
        title: "Answer",
        items: { anyOf: titled }
      })
      const old = yield* ask(many, accept({}), { revision: "2025-06-18" })
      assert.strictEqual(old.decision._tag, "Info")
      assert.match(String(old.decision.note), /does not support choosing several options.*has begun, and waits still/)
    }))

  it.effect("a form is its fields where all are primitive, and else left open with the reason", () =>
    Effect.gen(function*() {
      const answerSchema = {
        type: "object",
        properties: {
          street: { type: "string", title: "Street\u202E", minLength: 1, pattern: "^A" },
          number: { type: "integer", minimum: 1 },
          gift: { type: "boolean" },
          mail: { type: "string", format: "email" },
          wrap: { type: "string", enum: ["red", "blue"] },
          days: { type: "array", items: { type: "string", enum: ["mon", "tue"] } }
        },
        required: ["street"]
      }
      const { asked, decision } = yield* ask(
        awaiting({ kind: "form", answerSchema }),
        accept({ street: "A", number: 7 })
      )
      assert.deepStrictEqual(decision, new Approval.Approved({ answer: { street: "A", number: 7 } }))
      assert.deepStrictEqual(fieldsOf(asked), {
        street: { type: "string", title: "Street\\u202e", minLength: 1 },
        number: { type: "integer", minimum: 1 },
        gift: { type: "boolean" },
        mail: { type: "string", format: "email" },
        wrap: { type: "string", title: "Answer", oneOf: ["red", "blue"].map((one) => ({ const: one, title: one })) },
        days: { type: "array", items: { anyOf: ["mon", "tue"].map((one) => ({ const: one, title: one })) } }
      })
      assert.deepStrictEqual(asked[0]!.requestedSchema.required, ["street"])
      const text = { type: "string" }
      const names = ["__proto__", "a\u202Eb", "a\nb", "<b>", "x".repeat(65), ""].map((name) => ({ [name]: text }))
      for (const properties of [{ address: { type: "object" } }, { list: { type: "array" } }, ...names]) {
        const left = yield* ask(awaiting({ kind: "form", answerSchema: { type: "object", properties } }))
        assert.match(
          String(left.decision.note),
          /which MCP cannot ask for\. The tool that asks has begun, and waits still/
        )
        assert.deepStrictEqual([left.decision._tag, left.asked], ["Info", []])
      }
      const list = yield* ask(awaiting({ kind: "form", answerSchema: { type: "string" } }))
      assert.match(String(list.decision.note), /not a list of fields/)
    }))

  it.effect("a form of a schema asks for what its fields are to a person: a number, a value that may be missing", () =>
    Effect.gen(function*() {
      const form = Interaction.form(Schema.Struct({
        amount: Schema.Number,
        tip: Schema.optionalKey(Schema.Number),
        note: Schema.optional(Schema.String),
        nick: Schema.NullOr(Schema.String),
        age: Schema.NullOr(Schema.Number)
      }))
      const answerSchema = Interactions.jsonSchema(form)
      const request = awaiting({ kind: "form", answerSchema })
      const { asked, decision } = yield* ask(request, accept({ amount: 12.5 }))
      assert.deepStrictEqual(fieldsOf(asked), {
        amount: { type: "number" },
        tip: { type: "number" },
        note: { type: "string" },
        nick: { type: "string" },
        age: { type: "number" }
      })
      assert.deepStrictEqual(asked[0]!.requestedSchema.required, ["amount"])
      // What may be null, and is left out, is null.
      assert.deepStrictEqual(decision, new Approval.Approved({ answer: { amount: 12.5, nick: null, age: null } }))
      assert.deepStrictEqual(
        yield* Interactions.decodeAnswer(form, request.awaited!, { amount: 12.5, nick: null, age: null }),
        { amount: 12.5, nick: null, age: null }
      )
      const given = yield* ask(request, accept({ amount: 1, tip: 2, note: "soon", nick: "Ada", age: 36 }))
      assert.deepStrictEqual(
        given.decision,
        new Approval.Approved({ answer: { amount: 1, tip: 2, note: "soon", nick: "Ada", age: 36 } })
      )
    }))

  it.effect("a webhook, a timer and another event are for no person", () =>
    Effect.gen(function*() {
      for (const kind of ["webhook", "timer", "external"] as const) {
        const { asked, decision } = yield* ask(awaiting({ kind, answerSchema: {} }))
        assert.deepStrictEqual([decision._tag, asked], ["Info", []])
      }
    }))

  it.live("an agent within a tool of the server asks the client's user, and goes on with the answer", () =>
    Effect.gen(function*() {
      const AddToCart = DeferredTool.make("AddToCart", {
        parameters: { item: Schema.String },
        success: Schema.String,
        state: Schema.String,
        interactions: { another: Interaction.askUser }
      })
      const inner = Toolkit.make(AddToCart)
      const innerLive = inner.toLayer({
        AddToCart: DeferredTool.handler(AddToCart, {
          start: ({ item }) => AddToCart.suspend.another({ prompt: "And what else?" }, item),
          resume: { another: (answer, item) => Effect.succeed(`${item} and ${answer}`) }
        })
      })
      const Shop = Tool.make("shop", { success: Schema.String })
      const outer = Toolkit.make(Shop)
      const outerLive = outer.toLayer(Effect.gen(function*() {
        const context = yield* Effect.context<
          Tool.HandlersFor<Toolkit.Tools<typeof inner>> | LanguageModel.LanguageModel
        >()
        return {
          shop: () =>
            LanguageModel.generateText({ prompt: "shoes", toolkit: inner }).pipe(
              Effect.map(({ toolResults }) => JSON.stringify(toolResults.map(({ result }) => result))),
              Effect.provide(context),
              Effect.orDie
            )
        }
      })).pipe(
        Layer.provide(innerLive),
        Layer.provide(ScriptedModel.layer({
          turns: [[ScriptedModel.toolCall({ id: "call-1", name: "AddToCart", params: { item: "shoes" } })], "done"]
        }))
      )
      const server = yield* S.serve(
        McpServer.toolkit(outer).pipe(Layer.provide(outerLive), Layer.provide(McpApproval.layerElicitation()))
      )
      const { asked, call } = yield* S.connect(server, () => S.accept({ answer: "socks" }))
      assert.strictEqual((yield* call("shop", {})).text, "[\"shoes and socks\"]")
      assert.include(asked[0]!.message, "    And what else?")
    }))
})
