/**
 * What a tool asks when it begins to wait, made safe to show and to keep, and the answers it gets, checked.
 */
import * as Tool from "effect/ai/Tool"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import type * as Approver from "../../Approver.ts"
import type * as Interaction from "../../Interaction.ts"
import { abandonable } from "../abandon.ts"
import * as Bounds from "../bounds.ts"
import * as Denial from "../denial.ts"
import { definedFields } from "../fields.ts"
import * as ApprovalId from "../seal/approvalId.ts"
import * as Canonical from "../seal/canonical.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Text from "../text.ts"

/** What a tool waits for, ready to be sealed and kept. */
export interface Asked {
  readonly awaited: Approval.Awaited
  /** How long it is waited for, in milliseconds; the engine's own time where the tool does not say. */
  readonly expiresIn: number | undefined
  readonly token: Redacted.Redacted | undefined
}

// What any of the kinds may say; which of it counts, the kind decides.
interface AnyAsk {
  readonly prompt?: string | undefined
  readonly approvers?: Approver.Approvers | undefined
  readonly options?: ReadonlyArray<Interaction.Option> | undefined
  readonly expiresIn?: Duration.Input | undefined
  readonly token?: Redacted.Redacted | undefined
  readonly after?: Duration.Input | undefined
  readonly at?: DateTime.DateTime.Input | undefined
}

const maxPromptLength = 10_000
const maxOptions = 100
const maxValueLength = 256

/** The failure is a sentence that says what the tool asked for that cannot be. */
export const read = (
  name: string,
  interaction: Interaction.Any,
  ask: unknown,
  now: number
): Result.Result<Asked, string> => {
  // A tool's own `suspend` was called with what the type of its interaction wants.
  const { after, approvers, at, expiresIn, options, prompt, token } = ask as AnyAsk
  const lifetime = expiresIn === undefined ? undefined : Duration.toMillis(Duration.fromInputUnsafe(expiresIn))
  const dueAt = interaction.kind !== "timer" ? undefined : timeOf(after, at, now)
  if (interaction.kind === "timer" && dueAt === undefined) {
    return Result.fail("it named no time that can be waited for.")
  }
  if (interaction.kind === "webhook" && token === undefined) return Result.fail("it named no token for the webhook.")
  const choices = interaction.kind === "selectOptions" ? readOptions(options ?? []) : Result.succeed(undefined)
  if (Result.isFailure(choices)) return Result.fail(choices.failure)
  const options_ = choices.success
  return Result.succeed({
    awaited: new Approval.Awaited({
      name,
      kind: interaction.kind,
      answerSchema: answerSchema(interaction, options_),
      ...definedFields({
        prompt: prompt === undefined ? undefined : Text.escape(prompt, { maxLength: maxPromptLength, multiline: true }),
        options: options_,
        approvers: interaction.kind === "timer" ? undefined : approvers,
        multiple: interaction.multiple ? true : undefined,
        dueAt
      })
    }),
    expiresIn: lifetime,
    token: interaction.kind === "webhook" ? token : undefined
  })
}

const timeOf = (
  after: Duration.Input | undefined,
  at: DateTime.DateTime.Input | undefined,
  now: number
): number | undefined => {
  const time = after !== undefined
    ? now + Duration.toMillis(Duration.fromInputUnsafe(after))
    : at === undefined
    ? undefined
    : Option.getOrUndefined(Option.map(DateTime.make(at), DateTime.toEpochMillis))
  return time !== undefined && time >= 0 && time <= ApprovalId.maxTime ? Math.ceil(time) : undefined
}

type ReadOption = NonNullable<Approval.Awaited["options"]>[number]

const readOptions = (options: ReadonlyArray<Interaction.Option>): Result.Result<ReadonlyArray<ReadOption>, string> => {
  if (options.length === 0) return Result.fail("it offered no options.")
  if (options.length > maxOptions) return Result.fail(`it offered more than ${maxOptions} options.`)
  const read = options.map((option): ReadOption => {
    const { description, label, value } = typeof option === "string" ? { value: option } as OptionFields : option
    return {
      value,
      label: Text.escape(label ?? value, { maxLength: 500 }),
      ...(description === undefined ? undefined : { description: Text.escape(description, { maxLength: 1_000 }) })
    }
  })
  const values = new Set(read.map(({ value }) => value))
  return values.size < read.length
    ? Result.fail("two of its options have the same value.")
    : read.every(({ value }) => value.length <= maxValueLength && Canonical.isWellFormedId(value, Infinity))
    ? Result.succeed(read)
    : Result.fail(`the value of an option is empty, not Unicode, or longer than ${maxValueLength} characters.`)
}

type OptionFields = Exclude<Interaction.Option, string>

const answerSchema = (
  interaction: Interaction.Any,
  options: ReadonlyArray<ReadOption> | undefined
): Schema.Json => {
  if (options === undefined) return jsonSchema(interaction)
  const value = { type: "string", enum: options.map((option) => option.value) }
  return interaction.multiple ? { type: "array", items: value, uniqueItems: true } : value
}

const jsonSchemas = new WeakMap<Interaction.Any, Schema.Json>()

/** The JSON Schema of an answer; one that says nothing where the schema has none. */
export const jsonSchema = (interaction: Interaction.Any): Schema.Json => {
  let known = jsonSchemas.get(interaction)
  if (known === undefined) {
    const schema = Result.try(() => Tool.getJsonSchemaFromSchema(interaction.answer))
    // Checked to be JSON: a JSON Schema's type allows more than JSON.
    known = Result.isSuccess(schema) && Result.isSuccess(Canonical.canonicalize(schema.success))
      ? schema.success as Schema.Json
      : {}
    jsonSchemas.set(interaction, known)
  }
  return known
}

/** A digest of what is asked, under the tag of the request's seal. */
export const digest = (awaited: Approval.Awaited): Effect.Effect<string> => {
  const canonical = Canonical.canonicalize({ ...awaited })
  return Effect.map(
    Result.isSuccess(canonical) ? Cryptography.sha256(canonical.success) : Cryptography.randomToken(16),
    (digest) => digest.slice(0, 22)
  )
}

// =============================================================================
// Answers
// =============================================================================

interface Codec {
  readonly decode: (json: unknown) => Effect.Effect<unknown, Schema.SchemaError>
  readonly encode: (answer: unknown) => Effect.Effect<Schema.Json, Schema.SchemaError>
}

const codecs = new WeakMap<Interaction.Any, Codec>()

const codecOf = (interaction: Interaction.Any): Codec => {
  let codec = codecs.get(interaction)
  if (codec === undefined) {
    const json = Schema.toCodecJson(interaction.answer)
    codec = {
      decode: Schema.decodeUnknownEffect(json),
      encode: Schema.encodeUnknownEffect(json)
    }
    codecs.set(interaction, codec)
  }
  return codec
}

/** The answer as the tool gets it; the failure is a sentence that says what is wrong with it. */
export const decodeAnswer = (
  interaction: Interaction.Any,
  awaited: Approval.Awaited,
  answer: Schema.Json
): Effect.Effect<unknown, string> => {
  const excess = Bounds.check(answer, Bounds.answer)
  if (excess !== undefined) return Effect.fail(`it is ${Bounds.describe(excess, Bounds.answer)}.`)
  const unoffered = awaited.options === undefined ? undefined : findUnoffered(awaited.options, answer)
  if (unoffered !== undefined) return Effect.fail(unoffered)
  return codecOf(interaction).decode(interaction.kind === "getApproval" ? withNote(answer) : answer).pipe(
    abandonable,
    Effect.timeout("30 seconds"),
    Effect.mapError((error) =>
      Schema.isSchemaError(error) ? `it does not fit: ${error.message}` : "it could not be read in time."
    ),
    // A decoder that dies has not said what is wrong.
    Effect.catchDefect(() => Effect.fail("it could not be read."))
  )
}

// A "no" has one reason, whichever of its two names it has.
const withNote = <Answer>(answer: Answer): Answer => {
  if (typeof answer !== "object" || answer === null || !("reason" in answer)) return answer
  const { note, reason, ...said } = answer as { readonly note?: unknown; readonly reason: unknown }
  const one = typeof reason === "string" && (typeof note === "string" || note === undefined)
    ? Denial.oneReason(note, reason)
    : note
  // What is left is read by the schema of the answer.
  return definedFields({ ...said, note: one }) as Answer
}

const findUnoffered = (
  options: ReadonlyArray<ReadOption>,
  answer: Schema.Json
): string | undefined => {
  const offered = new Set<unknown>(options.map(({ value }) => value))
  const chosen = Array.isArray(answer) ? answer : [answer]
  return chosen.every((value) => offered.has(value))
    ? undefined
    : `it is not among the options: ${options.map(({ value }) => JSON.stringify(value)).join(", ")}.`
}

/** The answer as it travels; the failure is a sentence that says what is wrong with it. */
export const encodeAnswer = (interaction: Interaction.Any, answer: unknown): Effect.Effect<Schema.Json, string> => {
  const excess = Bounds.check(answer, Bounds.answer)
  return excess !== undefined
    ? Effect.fail(`it is ${Bounds.describe(excess, Bounds.answer)}.`)
    : Effect.mapError(
      codecOf(interaction).encode(interaction.kind === "getApproval" ? withNote(answer) : answer),
      ({ message }) => `it does not fit: ${message}`
    )
}

/** A digest of an answer: a run is only ever repeated with the same one. */
export const answerDigest = (answer: Schema.Json): Effect.Effect<string> => {
  const canonical = Canonical.canonicalize(answer)
  return Cryptography.sha256(Result.isSuccess(canonical) ? canonical.success : JSON.stringify(answer))
}
