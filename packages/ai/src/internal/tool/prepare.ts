/**
 * A call made ready to be shown, sealed and run as one and the same value (law L4): its parameters are decoded by the
 * tool's schema, encoded again, written as canonical JSON, and from there on only that string's parse is used.
 */
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import { abandonable, done } from "../abandon.ts"
import * as Bounds from "../bounds.ts"
import * as Canonical from "../seal/canonical.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Text from "../text.ts"

export interface Prepared {
  readonly tool: Tool.Any
  readonly toolCallId: string
  readonly toolName: string
  readonly decoded: unknown
  readonly canonical: string
  /** A new value each time: who is shown it, or judges it, cannot change what runs. */
  readonly encoded: Schema.Json
}

/**
 * What a tool is beside the schema of its parameters, where that is somebody else's word, as an MCP server's is: its
 * description, its hints, whose it is, as one text. It is part of the tool's fingerprint.
 */
export const Definition = Context.Reference<string | undefined>("~@assent/ai/Tool/Definition", {
  defaultValue: () => undefined
})

interface Coded {
  readonly decoded: unknown
  readonly encoded: unknown
}

interface ToolCodec {
  readonly roundTrip: (params: unknown) => Effect.Effect<Coded, unknown>
  /** Once they are known. */
  fingerprint: Effect.Effect<string> | undefined
  version: Effect.Effect<string> | undefined
}

// Tools are immutable: one codec and one fingerprint for each, for as long as it lives.
const codecs = new WeakMap<Tool.Any, ToolCodec>()

const codecOf = (tool: Tool.Any): ToolCodec => {
  const known = codecs.get(tool)
  if (known !== undefined) return known
  // The codec's services are the tool's own requirements, which every caller of the engine provides.
  const schema = tool.parametersSchema as Schema.Codec<unknown>
  const decode = Schema.isSchema(schema) ? Schema.decodeUnknownEffect(schema) : Effect.succeed
  const encode = Schema.isSchema(schema) ? Schema.encodeUnknownEffect(schema) : Effect.succeed
  const codec: ToolCodec = {
    roundTrip: (params) =>
      Effect.flatMapEager(
        decode(params),
        (decoded) => Effect.mapEager(encode(decoded), (encoded) => ({ decoded, encoded }))
      ),
    fingerprint: undefined,
    version: undefined
  }
  codecs.set(tool, codec)
  return codec
}

const fingerprint = (tool: Tool.Any): Effect.Effect<string> =>
  Effect.suspend(() => {
    const schema = Result.try(() => Tool.getJsonSchema(tool))
    const canonical = Result.flatMap(schema, Canonical.canonicalize)
    // A schema that has no JSON form cannot drift in it; the parameters are still checked by decoding them.
    const parameters = digest(Result.isSuccess(canonical) ? canonical.success : "unrepresentable")
    const definition = Context.get(tool.annotations, Definition)
    return definition === undefined
      ? parameters
      : Effect.zipWith(parameters, digest(definition), (left, right) => `${left}${definitionSeparator}${right}`)
  })

/** Between the two digests of a fingerprint, so that it can be said which of them changed. */
const definitionSeparator = "~"

const digest = (text: string): Effect.Effect<string> =>
  Effect.map(Cryptography.sha256(text), (digest) => digest.slice(0, 22))

const version = (tool: Tool.Any): Effect.Effect<string> =>
  tool.description === undefined ? fingerprintOf(tool) : Effect.flatMap(
    fingerprintOf(tool),
    (fingerprint) => digest(JSON.stringify([fingerprint, tool.description]))
  )

/** Fails with `InvalidParameters`, whose description never quotes the parameters. */
export const prepare = (
  tool: Tool.Any,
  call: { readonly id: string; readonly name: string; readonly params: unknown }
): Effect.Effect<Prepared, ApprovalError.ApprovalError> => {
  const invalid = (description: string) =>
    ApprovalError.make(new ApprovalError.InvalidParameters({ toolName: tool.name, description }))
  if (!Canonical.isWellFormedId(call.id, Canonical.maxToolCallIdBytes)) {
    return Effect.fail(invalid("the call's id is empty, too long, or not valid text."))
  }
  if (!Canonical.isWellFormedId(call.name, Canonical.maxToolNameBytes)) {
    return Effect.fail(invalid("the tool's name is empty, too long, or not valid text."))
  }
  const excess = Bounds.check(call.params, Bounds.params)
  if (excess !== undefined) return outOfBounds(tool.name, call.id, excess)
  const codec = codecOf(tool)
  const roundTrip = (params: unknown): Effect.Effect<Coded, ApprovalError.ApprovalError> => {
    const coded = codec.roundTrip(params)
    // Most schemas are done at once; only others need to be waited for.
    return done(coded) ?? coded.pipe(
      abandonable,
      Effect.timeout("30 seconds"),
      Effect.tapCause((cause) =>
        ApprovalEvents.publish((occasion) => ({
          _tag: "InvalidParameters",
          ...occasion,
          toolName: tool.name,
          toolCallId: call.id,
          cause
        }))
      ),
      Effect.sandbox,
      Effect.mapError((cause) => invalid(misfit(schemaErrorIn(cause))))
    )
  }
  const preparedAs = (canonical: string, decoded: unknown): Prepared => ({
    tool,
    toolCallId: call.id,
    toolName: call.name,
    decoded,
    canonical,
    get encoded() {
      return JSON.parse(canonical)
    }
  })
  // What is judged is what will run: the canonical form is decoded as the handler will decode it, and has to be its own
  // canonical form, or a gate could be shown one value and the handler another.
  const asWritten = Result.getOrUndefined(Canonical.canonicalize(call.params))
  const read = asWritten === undefined ? undefined : codec.roundTrip(JSON.parse(asWritten))
  // Most are written as their schema writes them.
  if (asWritten !== undefined && read !== undefined && Exit.isExit(read) && Exit.isSuccess(read)) {
    const { decoded, encoded } = read.value as Coded // the exit of an effect has the value of its type
    if (Result.getOrUndefined(Canonical.canonicalize(encoded)) === asWritten) {
      return Effect.succeed(preparedAs(asWritten, decoded))
    }
  }
  return Effect.flatMapEager(roundTrip(call.params), ({ encoded }) => {
    const canonical = Canonical.canonicalize(encoded)
    if (Result.isFailure(canonical)) return Effect.fail(invalid(canonical.failure))
    return Effect.flatMapEager(roundTrip(JSON.parse(canonical.success)), ({ decoded, encoded }) => {
      const stable = Canonical.canonicalize(encoded)
      return Result.isFailure(stable) || stable.success !== canonical.success
        ? Effect.fail(invalid("they change when they are written as JSON and read again."))
        : Effect.succeed(preparedAs(canonical.success, decoded))
    })
  })
}

const schemaErrorIn = (cause: Cause.Cause<unknown>): string | undefined => {
  const failed = cause.reasons.find(Cause.isFailReason)
  return Schema.isSchemaError(failed?.error) ? failed.error.message : undefined
}

/** Which of the parameters do not fit, and what was expected of them: for the model, which is to write them again. */
const misfit = (message: string | undefined): string =>
  message === undefined
    ? "they do not fit the tool's schema."
    : `they do not fit the tool's schema. ${
      Text.escape(message.replaceAll(/\s*\n\s*/g, " "), { maxLength: maxMisfitLength })
    }.`

const maxMisfitLength = 300

/** Parameters that a toolkit did not take: nothing ran. `undefined` where the cause is another one. */
export const refusedIn = (
  toolName: string,
  toolCallId: string,
  cause: Cause.Cause<unknown>
): Effect.Effect<ApprovalError.ApprovalError> | undefined => {
  const failed = cause.reasons.find(Cause.isFailReason)
  if (failed === undefined || !AiError.isAiError(failed.error)) return undefined
  const { reason } = failed.error
  if (reason._tag !== "ToolParameterValidationError") return undefined
  if (Context.get(Cause.annotations(cause), Toolkit.FailureOrigin) !== "parameters") return undefined
  const error = ApprovalError.make(
    new ApprovalError.InvalidParameters({ toolName, description: misfit(reason.description) })
  )
  return Effect.as(
    ApprovalEvents.publish((occasion) => ({ _tag: "InvalidParameters", ...occasion, toolName, toolCallId, cause })),
    error
  )
}

/** The failure of parameters that nobody is asked about, and nothing reads: they are too deep or too large (law L17). */
export const outOfBounds = (
  toolName: string,
  toolCallId: string,
  excess: Bounds.Excess
): Effect.Effect<never, ApprovalError.ApprovalError> => {
  const error = ApprovalError.make(
    new ApprovalError.InvalidParameters({
      toolName,
      description: `they are ${Bounds.describe(excess, Bounds.params)}.`
    })
  )
  return Effect.andThen(
    ApprovalEvents.publish((occasion) => ({
      _tag: "InvalidParameters",
      ...occasion,
      toolName,
      toolCallId,
      cause: Cause.fail(error)
    })),
    Effect.fail(error)
  )
}

/** Why parameters that a person changed cannot be used, for that person alone: it may quote them. */
export const problemOf = (
  { tool, toolCallId: id, toolName: name }: Prepared,
  params: Schema.Json
): Effect.Effect<string | undefined> => {
  const excess = Bounds.check(params, Bounds.params)
  if (excess !== undefined) return Effect.succeed(`they are ${Bounds.describe(excess, Bounds.params)}.`)
  return codecOf(tool).roundTrip(params).pipe(
    abandonable,
    Effect.timeout("30 seconds"),
    Effect.andThen(prepare(tool, { id, name, params })),
    Effect.match({
      onFailure: (error) =>
        Schema.isSchemaError(error)
          ? error.message
          : error instanceof ApprovalError.ApprovalError && error.reason._tag === "InvalidParameters"
          ? error.reason.description
          : "they could not be read in time.",
      onSuccess: () => undefined
    }),
    Effect.catchDefect(() => Effect.succeed("they could not be read."))
  )
}

/** A digest of the parameters that run. */
export const paramsDigest = (prepared: Prepared): Effect.Effect<string> => Cryptography.sha256(prepared.canonical)

/** The fingerprint of a tool: of its parameters, as their JSON Schema, and of its {@link Definition}. */
export const fingerprintOf = (tool: Tool.Any): Effect.Effect<string> => {
  const codec = codecOf(tool)
  return codec.fingerprint ?? Effect.flatMap(fingerprint(tool), (found) => codec.fingerprint = Effect.succeed(found))
}

/** What of a tool is not as it was when it had another fingerprint. */
export const changeSince = (
  fingerprint: string,
  tool: Tool.Any
): Effect.Effect<"parameters" | "definition" | undefined> =>
  Effect.mapEager(fingerprintOf(tool), (current) => {
    if (current === fingerprint) return undefined
    const [parameters] = current.split(definitionSeparator)
    return fingerprint.split(definitionSeparator)[0] === parameters ? "definition" : "parameters"
  })

/**
 * What stands for a tool where an answer is remembered: its parameters and what it says it does, so that another tool of
 * its name, or the same one with another purpose, is asked about again.
 */
export const versionOf = (tool: Tool.Any): Effect.Effect<string> => {
  const codec = codecOf(tool)
  return codec.version ?? Effect.flatMap(version(tool), (found) => codec.version = Effect.succeed(found))
}

/** What a seal binds of a call that is ready. */
export const binding = (
  prepared: Prepared,
  scope: Approval.ApprovalScope,
  presentationDigest?: string
): Effect.Effect<ApprovalSeal.Binding> =>
  Effect.mapEager(fingerprintOf(prepared.tool), (schemaFingerprint) => {
    const { canonical, toolCallId, toolName } = prepared
    return bindingOf({ canonical, toolCallId, toolName, schemaFingerprint }, scope, presentationDigest)
  })

export const bindingOf = (
  call: {
    readonly toolCallId: string
    readonly toolName: string
    readonly canonical: string
    readonly schemaFingerprint: string
  },
  scope: Approval.ApprovalScope,
  presentationDigest?: string
): ApprovalSeal.Binding => ({
  source: "local",
  toolName: call.toolName,
  toolCallId: call.toolCallId,
  schemaFingerprint: call.schemaFingerprint,
  params: call.canonical,
  scope,
  presentationDigest
})
