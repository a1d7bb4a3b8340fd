/**
 * What of ours has to equal what of upstream's. Without a toolkit everything does, but for calls after a history that has
 * some. Where the engine has the turn these are the differences that the design wants; anything else is a fault.
 *
 * - **finish last** (DESIGN §4): a whole response of ours ends with its finish; a stream of upstream's does so too, where
 *   there are tools.
 * - **deferred validation** (DESIGN §1): the engine asks the provider's service for the calls and judges them itself, so
 *   `toolCallValidation` is `"deferred"` in the provider's options. With it upstream lets any undeclared name pass. An
 *   undeclared call that the *provider* executes passes, because nothing here runs it and the provider knows its own
 *   tools. So such calls are left out of these cases.
 * - **unknown tools** (law L8, DESIGN §1): a local call of what is not in the toolkit fails the whole turn of upstream.
 *   The engine gives it a failed result, and everything else of the response is as if it were not there. Upstream is
 *   therefore asked a second time, with a tool in its place that answers so at once; all of that has to be equal. Where no
 *   tool is given at all, calls are left out of these cases: `laws/L8.unknown` has them.
 * - **parameters that do not decode** (DESIGN §1): of a tool whose failures are errors they fail the whole turn of
 *   upstream, and are a failed result of ours, so they are left out of these cases.
 * - **one form** (law L4): under a policy any call may be asked about, so its parameters stand in the response as they
 *   would be sealed: decoded and encoded again.
 * - **hosted calls wait for their requests** (law L4): a stream's call of a tool that the provider runs is seen with what
 *   comes next, or 100 milliseconds later, so that it is sealed if the provider asks about it.
 * - **siblings settle** (law L8): where a call fails the turn, upstream interrupts its siblings and ours end first. With
 *   several that fail, upstream raises the first in time and we the first in order.
 * - **what had begun** (law L14): of a call that ran when its response was cut, its result says that it had begun.
 *
 * What `found.test.ts` shows is not wanted by the design, and is passed over here so that it does not hide other faults:
 * the order of results in a whole response.
 */
import { AiError, type Prompt, type Response, type Tool } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as assert from "node:assert"
import * as Words from "../../src/internal/decide/words.ts"
import * as Observe from "./observe.ts"
import * as Script from "./response.ts"
import type * as Scenario from "./scenario.ts"
import * as Tools from "./tools.ts"

export const check = Effect.fnUntraced(function*(
  method: Observe.Method,
  path: Observe.Path,
  scenario: Scenario.Scenario
): Effect.fn.Return<void> {
  const subject = { method, path, scenario }
  const plain = yield* Observe.observe({ ...subject, ours: false })
  const engineHasIt = Observe.engineHasIt(method, path, scenario)
  const asked = method === "streamText" && engineHasIt && Observe.hasNoTools(scenario) ? withFinishLast(plain) : plain
  const ours = yield* Observe.observe({ ...subject, ours: true })
  assertSameMessages(ours, scenario)
  if (!engineHasIt) {
    assert.deepStrictEqual(whole(ours), whole(asked))
    return
  }
  const resolves = Observe.resolves(scenario)
  assert.deepStrictEqual(
    requestsOf(ours),
    requestsOf(asked).map((request) => resolves ? { ...request, toolCallValidation: "deferred" } : request)
  )
  if (!resolves) {
    const emitted = forgive(method, ours.emitted, asked.emitted)
    assert.deepStrictEqual({ ...whole(ours), emitted, requests: [] }, { ...whole(asked), requests: [] })
    return
  }
  const script = Script.scriptOf(scenario, Observe.limitsOf(subject))
  const upstream = script.callsUnknown ? yield* withStandIns(subject) : asked
  const failed = callsThatFailTheTurn(upstream, script, Observe.toolkitOf(path).tools)
  assert.strictEqual(ours.resolutions, upstream.resolutions)
  if (failed.length === 0) {
    assert.deepStrictEqual(Observe.endingOf(ours.exit), Observe.endingOf(upstream.exit))
    assert.strictEqual(ours.endedAt, upstream.endedAt)
    assert.deepStrictEqual(ours.value, upstream.value)
    assert.deepStrictEqual(responseOf(ours, path), responseOf(upstream, path))
    assert.deepStrictEqual(sortedRuns(ours), sortedRuns(upstream))
    compareEmitted(method, path, ours, upstream)
    return
  }
  const first = failed.length === 1
    ? upstream
    : yield* Observe.observe({ ...subject, ours: false, onlyCall: failed[0]!.id, standIns: script.callsUnknown })
  assert.deepStrictEqual(Observe.endingOf(ours.exit), Observe.endingOf(first.exit), "the failure of the turn")
  // Every sibling came to its own end (law L8).
  assert.deepStrictEqual(ours.runs.filter((run) => run.ended === "interrupted"), [])
  const emittedByOurs = settledOf(ours)
  for (const result of settledOf(upstream)) {
    assert.ok(
      emittedByOurs.some((one) => isDeepEqual(one, result)),
      `a result of upstream's is lost: ${result.part.id}`
    )
  }
  compareSaid(method, said(ours, path), said(upstream, path))
})

const withFinishLast = (observation: Observe.Observation): Observe.Observation => {
  const isFinish = ({ part }: Observe.Emitted): boolean => part.type === "finish"
  const finish = observation.exit?._tag === "Success" ? observation.emitted.filter(isFinish) : []
  return {
    ...observation,
    emitted: [
      ...observation.emitted.filter((one) => !isFinish(one)),
      ...finish.map((one) => ({ ...one, at: observation.endedAt }))
    ]
  }
}

/**
 * Upstream, with a tool in place of what is missing. The tool waits for its turn where concurrency is limited, but what
 * the engine says of a stream's call depends on no other call: it comes when it would if no other took any time.
 */
const withStandIns = Effect.fnUntraced(function*(
  subject: Omit<Observe.Subject, "ours">
): Effect.fn.Return<Observe.Observation> {
  const upstream = yield* Observe.observe({ ...subject, ours: false, standIns: true })
  if (subject.method !== "streamText") return upstream
  const quiet = yield* Observe.observe({ ...subject, ours: false, standIns: true, quiet: true })
  const isUnknown = ({ part }: Observe.Emitted): boolean => isLocalResult(part) && part.id === Script.unknownId
  return {
    ...upstream,
    emitted: [...upstream.emitted.filter((one) => !isUnknown(one)), ...quiet.emitted.filter(isUnknown)]
  }
})

// A message that needs no change stays the same object (law L7), so that incremental requests stay incremental.
const assertSameMessages = ({ prompt, requests }: Observe.Observation, { options }: Scenario.Scenario): void => {
  if (options.prompt !== "prompt") return
  for (const request of requests) {
    assert.ok(request.prompt.content.every((message, index) => message === (prompt as Prompt.Prompt).content[index]))
  }
}

const whole = (observation: Observe.Observation) => ({
  ...observation,
  exit: Observe.endingOf(observation.exit)
})

const requestsOf = ({ requests }: Observe.Observation) => requests.map((request) => ({ ...request }))

// =============================================================================
// What came out
// =============================================================================

const isLocalCall = (part: Response.AnyPart): part is Response.ToolCallPart<string, unknown> =>
  part.type === "tool-call" && !part.providerExecuted

type LocalResult = Response.ToolResultPart<string, unknown, unknown>

const isLocalResult = (part: Response.AnyPart): part is LocalResult =>
  part.type === "tool-result" && !part.providerExecuted

/** Parts of the model, in order, with their times in a stream, and the finish apart. */
const said = (observation: Observe.Observation, path: Observe.Path) => {
  const parts = observation.emitted.filter(({ part }) => !isLocalResult(part)).map(({ at, part }) => ({
    at,
    part: inOneForm(part, path)
  }))
  return {
    parts: parts.filter(({ part }) => part.type !== "finish"),
    finish: parts.filter(({ part }) => part.type === "finish")
  }
}

const settledOf = (observation: Observe.Observation) =>
  observation.emitted.flatMap(({ at, part }) => isLocalResult(part) ? [{ at, part: withoutBegun(part) }] : [])

// Of a call that ran when its response was cut we say so too (law L14).
const withoutBegun = (part: LocalResult): LocalResult => {
  const { result } = part as { readonly result: unknown }
  if (!Predicate.hasProperty(result, "reason") || typeof result.reason !== "string") return part
  const reason = result.reason.replace(`. ${Words.cutShort}`, "")
  if (reason === result.reason) return part
  const cut = { ...result, reason }
  return { ...part, result: cut, encodedResult: cut } as LocalResult
}

const compareEmitted = (
  method: Observe.Method,
  path: Observe.Path,
  ours: Observe.Observation,
  upstream: Observe.Observation
): void => {
  compareSaid(method, said(ours, path), said(upstream, path))
  assert.deepStrictEqual(
    settledOf(ours).toSorted(byMoment(method)),
    settledOf(upstream).toSorted(byMoment(method))
  )
  const types = ours.emitted.map(({ part }) => part.type)
  const finishes = types.filter((type) => type === "finish").length
  assert.strictEqual(types.indexOf("finish"), finishes === 0 ? -1 : types.length - finishes, "the finish is last")
  assertAfterCalls(ours)
  if (method !== "streamText") {
    // Upstream's results come in the order of completion: see `found.test.ts`.
    const order = ours.emitted.flatMap(({ part }) => isLocalCall(part) ? [part.id] : [])
    assert.deepStrictEqual(
      settledOf(ours).map(({ part }) => part.id),
      order,
      "results come in the order of their calls"
    )
  }
}

type Said = ReturnType<typeof said>

const compareSaid = (method: Observe.Method, ours: Said, upstream: Said): void =>
  assert.deepStrictEqual({ ...ours, parts: forgive(method, ours.parts, upstream.parts) }, upstream)

// A call of the provider's may come a moment later, and what comes with it too.
const forgive = (
  method: Observe.Method,
  ours: ReadonlyArray<Observe.Emitted>,
  upstream: ReadonlyArray<Observe.Emitted>
): ReadonlyArray<Observe.Emitted> => {
  const isHosted = ({ part }: Observe.Emitted): boolean => part.type === "tool-call" && part.providerExecuted
  if (method !== "streamText" || !upstream.some(isHosted)) return ours
  return ours.map((one, index) => {
    const other = upstream[index]
    if (other === undefined || one.at <= other.at) return one
    assert.ok(one.at - other.at <= 100, "a hosted call waits for its request for too long")
    return { ...one, at: other.at }
  })
}

// Results that come at one moment have no order but that of each call's own.
const byMoment = (method: Observe.Method) => (left: Settled, right: Settled): number =>
  (method === "streamText" ? left.at - right.at : 0) || left.part.id.localeCompare(right.part.id)

type Settled = ReturnType<typeof settledOf>[number]

const assertAfterCalls = ({ emitted }: Observe.Observation): void => {
  const seen = new Set<string>()
  for (const { part } of emitted) {
    if (isLocalCall(part)) seen.add(part.id)
    if (isLocalResult(part)) assert.ok(seen.has(part.id), `the result of ${part.id} stands before its call`)
  }
}

const responseOf = ({ response }: Observe.Observation, path: Observe.Path): unknown => {
  if (response === undefined) return undefined
  const whole = response as { readonly toolCalls: ReadonlyArray<Response.AnyPart> }
  return { ...whole, toolCalls: whole.toolCalls.map((part) => inOneForm(part, path)) }
}

/** A call's parameters in the one form they have under a policy (law L4). */
const inOneForm = (part: Response.AnyPart, path: Observe.Path): Response.AnyPart => {
  if (!Observe.underPolicy(path) || !isLocalCall(part)) return part
  const tools = Observe.toolkitOf(path).tools as Record<string, Tool.Any>
  const tool = Object.hasOwn(tools, part.name) ? tools[part.name] : undefined
  if (tool === undefined || !Schema.isSchema(tool.parametersSchema)) return part
  const schema = tool.parametersSchema as Schema.Codec<unknown>
  const decoded = Schema.decodeUnknownResult(schema)(part.params)
  return Result.isFailure(decoded) ? part : { ...part, params: Schema.encodeUnknownSync(schema)(decoded.success) }
}

const sortedRuns = ({ runs }: Observe.Observation): ReadonlyArray<Tools.Run> =>
  runs.toSorted((left, right) => (left.toolCallId ?? "").localeCompare(right.toolCallId ?? ""))

// =============================================================================
// Turns that fail
// =============================================================================

/** The calls whose failure is the turn's, in order; none where something else ended the turn, or nothing did. */
const callsThatFailTheTurn = (
  upstream: Observe.Observation,
  script: Script.Scripted,
  tools: Record<string, Tool.Any>
): ReadonlyArray<Script.ScriptedCall> =>
  script.cut || script.failure !== undefined || isRefused(upstream)
    ? []
    : script.calls.filter((call) => failsTheTurn(call, tools[call.name]!))

/** Whether the turn failed because of what the response itself is. */
const isRefused = ({ exit }: Observe.Observation): boolean =>
  exit?._tag === "Failure" &&
  exit.cause.reasons.some((reason) =>
    reason._tag === "Fail" && AiError.isAiError(reason.error) && reason.error.module === "LanguageModel" &&
    reason.error.reason._tag === "InvalidOutputError"
  )

const failsTheTurn = ({ ending, name, params }: Script.ScriptedCall, tool: Tool.Any): boolean => {
  const returns = tool.failureMode === "return"
  const decoded = Schema.isSchema(tool.parametersSchema)
    ? Schema.decodeUnknownResult(tool.parametersSchema as Schema.Codec<unknown>)(Tools.paramsOf(name, params))
    : Result.succeed(undefined)
  if (Result.isFailure(decoded)) return !returns
  if (ending === "unencodable") return tool !== Tools.Ping
  if (ending === "die") return true
  return ending !== "succeed" && !returns
}

const isDeepEqual = (left: unknown, right: unknown): boolean =>
  Result.isSuccess(Result.try(() => assert.deepStrictEqual(left, right)))
