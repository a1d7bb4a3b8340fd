/**
 * L4 and L14: what the gate judges, what the person sees, what is sealed and what runs are one and the same; and if the
 * person changed it, the model is told what ran.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema, SchemaGetter } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, LanguageModel, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

// =============================================================================
// Parameters whose encoding does not undo their decoding
// =============================================================================

/** Decodes as a URL does and encodes as it stands: written twice, it decodes twice. */
const UrlDecoded = Schema.String.pipe(Schema.decodeTo(Schema.String, {
  decode: SchemaGetter.transform((text: string) => decodeURIComponent(text)),
  encode: SchemaGetter.transform((text: string) => text)
}))

/** Never the same twice, read or written. */
const Growing = Schema.String.pipe(Schema.decodeTo(Schema.String, {
  decode: SchemaGetter.transform((text: string) => `/etc/${text}`),
  encode: SchemaGetter.transform((text: string) => text)
}))

const raws = [
  "/tmp/a",
  "%2ftmp%2fa",
  "%252ftmp%252fa",
  "%2fetc%2fpasswd",
  "%252fetc/passwd",
  "%25252fetc/passwd",
  "%25"
]

/** A tool that judges its own path, and what was seen of each path on the way. */
const makeWatched = (path: typeof UrlDecoded) =>
  Effect.gen(function*() {
    const judged: Array<string> = []
    const tool = Tool.make("Write", {
      parameters: { path },
      success: Schema.String,
      needsApproval: ({ path }) => (judged.push(path), path.startsWith("/etc"))
    })
    return { judged, tool, tools: yield* Support.makeTools([tool]) }
  })

describe("L4 parameters whose encoding does not undo their decoding", () => {
  for (const raw of raws) {
    Support.forEachMode(
      `L4 "${raw}": a path the gate let through is the path that runs, or nothing runs`,
      function*(mode) {
        const { judged, tools } = yield* makeWatched(UrlDecoded)
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "Write", { path: raw })]
        })
        const ran = tools.runs.map(({ params }) => (params as { readonly path: string }).path)
        for (const path of ran) {
          assert.isFalse(path.startsWith("/etc"), `ran ${path} without being asked`)
          assert.deepStrictEqual(judged, [path])
        }
        // Either it ran, or it is asked about, or its result says why not.
        assert.strictEqual(ran.length + turn.requests.length + turn.results.filter((one) => one.isFailure).length, 1)
      }
    )

    Support.forEachMode(
      `L4 "${raw}": what a person approves is what was shown and judged, or nothing runs`,
      function*(mode) {
        const judged: Array<unknown> = []
        const { tools } = yield* makeWatched(UrlDecoded)
        const policy = ApprovalPolicy.make((call) => (judged.push(call.params), true))
        const withPolicy = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
        const asked = yield* withPolicy(Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "Write", { path: raw })]
        }))
        const [request] = asked.requests
        if (request === undefined) {
          Support.failureReason(asked.results[0])
          assert.deepStrictEqual([judged, tools.runs], [[], []])
          return
        }
        const script = yield* Support.answering
        yield* withPolicy(
          Support.reply(mode, { asked, model: script.model, tools }, Support.answers(Approval.approve(request)))
        )
        const shown = request.params
        assert.deepStrictEqual(tools.runs.map((run) => run.params), [shown])
        for (const one of judged) assert.deepStrictEqual(one, shown)
      }
    )

    Support.forEachMode(`L4 "${raw}": what is approved inline is what was shown, or nothing runs`, function*(mode) {
      const shown: Array<unknown> = []
      const { tools } = yield* makeWatched(UrlDecoded)
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [Support.call("c1", "Write", { path: raw })]
      }).pipe(
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => true)),
        Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive((request) => (shown.push(request.params), true))
        )
      )
      assert.deepStrictEqual(tools.runs.map((run) => run.params), shown)
      if (shown.length === 0) Support.failureReason(turn.results[0])
    })
  }

  Support.forEachMode(
    "L4 parameters that change whenever they are read are a failed result, and nobody is asked",
    function*(mode) {
      for (const [path, raw] of [[UrlDecoded, "%252fetc/passwd"], [Growing, "a"]] as const) {
        const { judged, tools } = yield* makeWatched(path)
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "Write", { path: raw })]
        })
        assert.match(Support.failureReason(turn.results[0]), /nothing ran/i)
        assert.deepStrictEqual([turn.requests, tools.runs, judged], [[], [], []])
      }
    }
  )

  Support.single(
    "L4 whether an approval is needed is answered yes for parameters that change when they are read",
    function*() {
      const { tool } = yield* makeWatched(UrlDecoded)
      const needed = (path: string) =>
        LanguageModel.isApprovalNeeded(tool, { id: "c1", name: "Write", params: { path } }, [])
      assert.deepStrictEqual(yield* Effect.forEach(["/tmp/a", "%2ftmp%2fa", "%2fetc", "%252fetc"], needed), [
        false,
        false,
        true,
        true
      ])
    }
  )

  Support.forEachMode("L4 an edit into parameters that change when they are read does not run", function*(mode) {
    const { tools } = yield* makeWatched(UrlDecoded)
    const turn = yield* Effect.provideService(
      Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "Write", { path: "/etc/a" })] }),
      ApprovalController.ApprovalController,
      ApprovalController.interactive((request) => Approval.approve(request, { params: { path: "%252fetc/b" } }))
    )
    assert.deepStrictEqual(tools.runs, [])
    assert.lengthOf(turn.requests, 1)
  })
})

// =============================================================================
// What the person was shown
// =============================================================================

const showing = (present: () => { readonly content: string; readonly metadata?: Record<string, Schema.Json> }) =>
  ApprovalPolicy.make(() =>
    Approval.needsApproval({ presentation: new Approval.ApprovalPresentation({ type: "text", ...present() }) })
  )

/** Asks about `ReadFile` under a policy, and approves it on a later turn, before which something may change. */
const askAndApprove = Effect.fnUntraced(function*(
  mode: Support.Mode,
  policy: ApprovalPolicy.Service,
  change: () => void
) {
  const tools = yield* Support.makeTools()
  const withPolicy = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
  const asked = yield* withPolicy(Support.ask(mode, {
    toolkit: tools.toolkit,
    calls: [Support.call("c1", "ReadFile", { path: "a" })]
  }))
  const request = asked.requests[0]!
  change()
  const script = yield* Support.answering
  const turn = yield* withPolicy(
    Support.reply(mode, { asked, model: script.model, tools }, Support.answers(Approval.approve(request)))
  )
  return { request, runs: tools.runs.length, turn }
})

describe("L4 what the person was shown", () => {
  const answers: Record<string, (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer> = {
    "a plain answer": (request) => Approval.approve(request),
    "an answer that echoes the parameters": (request) => Approval.approve(request, { params: request.params }),
    "an answer that echoes a copy of them": (request) =>
      Approval.approve(request, { params: JSON.parse(JSON.stringify(request.params)) })
  }
  for (const [title, answer] of Object.entries(answers)) {
    Support.forEachMode(`L4 ${title} does not approve what has changed while the person looked`, function*(mode) {
      for (const changes of [true, false]) {
        let content = "v1"
        const tools = yield* Support.makeTools()
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "ReadFile", { path: "a" })]
        }).pipe(
          Effect.provideService(ApprovalPolicy.ApprovalPolicy, showing(() => ({ content }))),
          Effect.provideService(
            ApprovalController.ApprovalController,
            ApprovalController.interactive((request) => {
              if (changes) content = "v2"
              return answer(request)
            })
          )
        )
        assert.strictEqual(tools.runs.length, changes ? 0 : 1)
        if (changes) assert.match(Support.failureReason(turn.results[0]), /changed/)
      }
    })
  }

  Support.forEachMode("L4 what was cut off or left out of the metadata is part of what was approved", function*(mode) {
    const metadata: Record<string, (last: string) => Schema.Json> = {
      "a text that is cut": (last) => "y".repeat(1_000_000) + last,
      "many that are left out": (last) => [...Array.from({ length: 100_000 }, () => "y"), last],
      "one that is escaped to what another says": (last) => last === "1" ? "\u202e" : "\\u202e"
    }
    for (const [title, valueOf] of Object.entries(metadata)) {
      for (const later of ["1", "2"]) {
        let last = "1"
        const policy = showing(() => ({ content: "x".repeat(90_000), metadata: { value: valueOf(last) } }))
        const { runs, turn } = yield* askAndApprove(mode, policy, () => {
          last = later
        })
        assert.strictEqual(runs, later === "1" ? 1 : 0, title)
        if (later === "2") assert.match(Support.failureReason(turn.results[0]), /changed/)
      }
    }
  })

  const unwritable: Record<string, Record<string, Schema.Json>> = {
    "with a lone surrogate": { raw: "\ud800" },
    "that is too large": { raw: "x".repeat(1_100_000) }
  }
  for (const [title, metadata] of Object.entries(unwritable)) {
    Support.forEachMode(`L4 metadata ${title} is not shown, and does not hide a change of what is`, function*(mode) {
      let content = "v1"
      const { request, runs, turn } = yield* askAndApprove(mode, showing(() => ({ content, metadata })), () => {
        content = "v2"
      })
      assert.strictEqual(request.presentation?.content, "v1")
      assert.notProperty(request.presentation?.metadata ?? {}, "raw")
      assert.strictEqual(runs, 0)
      assert.match(Support.failureReason(turn.results[0]), /changed/)
    })
  }

  Support.forEachMode("L4 L11 an approved call runs when the policy wants nobody any more", function*(mode) {
    const results = { "false": () => false, "pre-approved": () => Approval.preApproved("a quiet day") }
    for (const relaxed of Object.values(results)) {
      const asking = showing(() => ({ content: "v1" }))
      let policy = asking
      const { runs, turn } = yield* askAndApprove(
        mode,
        { decide: (call) => policy.decide(call) },
        () => {
          policy = ApprovalPolicy.make(relaxed)
        }
      )
      assert.strictEqual(runs, 1)
      assert.deepStrictEqual(turn.results.map((result) => result.result), ["text of a"])
    }
  })
})

// =============================================================================
// What the person changed
// =============================================================================

describe("L14 a call the person changed", () => {
  const failing = { parameters: { amount: Schema.Number }, success: Schema.String, failure: Schema.String } as const
  const tools = {
    "that succeeds": Tool.make("Pay", { ...failing, needsApproval: true }),
    "that returns its failure": Tool.make("Pay", { ...failing, needsApproval: true, failureMode: "return" }),
    "that fails the turn": Tool.make("Pay", { ...failing, needsApproval: true }),
    "that dies": Tool.make("Pay", { ...failing, needsApproval: true })
  }
  const handlers: { readonly [K in keyof typeof tools]: Effect.Effect<string, string> } = {
    "that succeeds": Effect.succeed("sent"),
    "that returns its failure": Effect.fail("half was sent"),
    "that fails the turn": Effect.fail("half was sent"),
    "that dies": Effect.die(new Error("out of memory"))
  }
  for (const how of Object.keys(tools) as Array<keyof typeof tools>) {
    Support.forEachMode(`L14 ${how}: the model is told what ran, now and on every later turn`, function*(mode) {
      const { runs, toolkit } = yield* Support.makeTools([tools[how]], { Pay: () => handlers[how] })
      const asked = yield* Support.ask(mode, { toolkit, calls: [Support.call("c1", "Pay", { amount: 1000 })] })
      const script = yield* Support.answering
      const turn = Support.takeTurn(mode, { model: script.model, toolkit, history: asked.history })
      const edit = ApprovalController.interactive((request) => Approval.approve(request, { params: { amount: 10 } }))
      const first = yield* Effect.exit(Effect.provideService(turn, ApprovalController.ApprovalController, edit))
      assert.strictEqual(first._tag, how === "that fails the turn" || how === "that dies" ? "Failure" : "Success")

      // Nobody answers any more: this is what the journal kept.
      const again = yield* turn
      assert.strictEqual(again.text, "done")
      assert.deepStrictEqual(runs, [{ name: "Pay", params: { amount: 10 } }])
      assert.strictEqual(again.results[0]!.isFailure, how !== "that succeeds")
      const [sent] = yield* Support.sentResults(script)
      const said = JSON.stringify(sent!.modelOutput)
      assert.include(said, String.raw`{\"amount\":10}`)
      if (how !== "that dies") assert.include(said, how === "that succeeds" ? "sent" : "half was sent")
      assert.deepStrictEqual(sent!.modelOutput, again.results[0]!.modelOutput)
      if (first._tag === "Success") {
        assert.deepStrictEqual(first.value.results[0]!.modelOutput, again.results[0]!.modelOutput)
      }
    })
  }
})
