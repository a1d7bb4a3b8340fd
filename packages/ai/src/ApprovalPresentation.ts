/**
 * Makes what a person is shown of a call: text, a command line, the content of a file, a diff, or data.
 *
 * A presentation is what `needsApproval` or a policy may give (`Approval.needsApproval({ presentation })`), or what a
 * tool makes of its parameters with `Tool.present`. It is cut at 100,000 UTF-16 units, which is said, and made safe for
 * screens (law L15). So are the texts of its metadata, each a line of at most 4,096 units. What is shown is sealed: if
 * something else would be shown when the call is about to run, a person is asked again (law L4).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type * as Schema from "effect/Schema"
import * as TextDiff from "effect/TextDiff"
import * as Approval from "./Approval.ts"
import { definedFields } from "./internal/fields.ts"
import * as Cryptography from "./internal/seal/cryptography.ts"
import * as Origins from "./internal/seal/origins.ts"

/**
 * What all presentations may say besides their content.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /** Anything else a page may want to show. */
  readonly metadata?: { readonly [name: string]: Schema.Json } | undefined
  /** What it was made from, as a digest: see {@link digest}. */
  readonly precondition?: string | undefined
  /**
   * The names of the parameters that this shows byte for byte, so that they need not be listed besides. It is a claim:
   * `request.presentation.covers` has only those that the engine has checked. A text, a command and the content of a
   * file cover the parameter that is just what is shown; for a diff, see {@link fileDiff}. What is cut, or escaped for
   * a screen, covers nothing, and neither does data.
   */
  readonly covers?: ReadonlyArray<string> | undefined
}

/**
 * Plain text, shown as it is but for what is escaped (law L15).
 *
 * @example
 * import { ApprovalPresentation, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Plain = Tool.make("SendMail", { parameters: { to: Schema.String, text: Schema.String }, needsApproval: true })
 * const SendMail = Tool.present(Plain, ({ text, to }) => ApprovalPresentation.text(`To ${to}:\n${text}`))
 * const toolkit = Toolkit.make(SendMail)
 * const call = ScriptedModel.toolCall({ id: "call-1", name: "SendMail", params: { to: "ada", text: "Hello." } })
 *
 * const program = LanguageModel.generateText({ prompt: "Greet Ada.", toolkit }).pipe(
 *   Effect.map((response) => Response.approvalRequests(response)[0]?.presentation?.content),
 *   Effect.provide(toolkit.toLayer({ SendMail: () => Effect.void })),
 *   Effect.provide(ScriptedModel.layer({ turns: [[call]] }))
 * )
 *
 * await Effect.runPromise(program) // => "To ada:\nHello."
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (content: string, options?: Options): Approval.ApprovalPresentation =>
  new Approval.ApprovalPresentation({ type: "text", content, ...definedFields(options) })

/**
 * A command line, and the folder it runs in.
 *
 * @example
 * import { ApprovalPresentation } from "@assent/ai"
 *
 * ApprovalPresentation.command("rm -r build", { directory: "/srv/app" }).metadata // => { directory: "/srv/app" }
 *
 * @category constructors
 * @since 0.1.0
 */
export const command = (
  line: string,
  options?: Options & { readonly language?: string | undefined; readonly directory?: string | undefined }
): Approval.ApprovalPresentation =>
  new Approval.ApprovalPresentation({
    type: "command",
    content: line,
    language: options?.language ?? "shell",
    ...named({ directory: options?.directory }, options)
  })

/**
 * The whole content of a file that is written. `language` is for highlighting; without one, whoever shows it may guess.
 *
 * @example
 * import { ApprovalPresentation } from "@assent/ai"
 *
 * const shown = ApprovalPresentation.fileContent("export const a = 1\n", { path: "src/a.ts", language: "typescript" })
 *
 * shown.type // => "file_content"
 * shown.metadata // => { path: "src/a.ts" }
 *
 * @category constructors
 * @since 0.1.0
 */
export const fileContent = (
  content: string,
  options: Options & { readonly path: string; readonly language?: string | undefined }
): Approval.ApprovalPresentation =>
  new Approval.ApprovalPresentation({
    type: "file_content",
    content,
    ...definedFields({ language: options.language }),
    ...named({ path: options.path }, options)
  })

/**
 * What a call changes about a text, as a unified diff. Its precondition is a digest of the text before, and of `state`,
 * which is whatever else must not change: when either has changed as the call is about to run, the person is asked
 * again (law L4). For files on disk there is {@link fileDiff}, which reads them itself.
 *
 * @example
 * import { ApprovalPresentation } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const shown = ApprovalPresentation.diff({ path: "a.txt", before: "one\ntwo\n", after: "one\n2\n" })
 *
 * await Effect.runPromise(shown).then(({ content }) => content.includes("-two\n+2")) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const diff = (
  options: Omit<Options, "precondition" | "covers"> & {
    readonly path: string
    readonly before: string
    readonly after: string
    readonly state?: string | undefined
    readonly language?: string | undefined
  }
): Effect.Effect<Approval.ApprovalPresentation> => makeDiff(options)

const makeDiff = (options: Parameters<typeof diff>[0] & Pick<Options, "covers">) => {
  const { before, state } = options
  return Effect.map(digest(state === undefined ? before : JSON.stringify([before, state])), (precondition) => {
    // Bounded, so that two long texts that have nothing in common do not take minutes: they are shown one after the other.
    const edits = TextDiff.lines(options.before, options.after, { maxEdits: 1_000 })
    // A path with lines of its own could show changes that are none.
    const name = Approval.escapeText(options.path, { maxLength: 1_000 })
    return new Approval.ApprovalPresentation({
      type: "diff",
      content: TextDiff.unified(edits, { fromFile: name, toFile: name }),
      precondition,
      ...definedFields({ language: options.language }),
      ...named({ path: options.path }, options)
    })
  })
}

/**
 * What a call changes about a file, as a unified diff from what the file has now; a file that is not there yet has
 * nothing. Its precondition is also where the path leads, so that a link which somebody puts in the place of the file,
 * or of a folder above it, is found before the call runs (law L4). Where a path leads elsewhere, `leadsTo` of the
 * metadata says where.
 *
 * `root` is the folder that the path is relative to (default: that of the process). It fails where the path is a
 * folder, or cannot be read as text.
 *
 * `covers` names the parameter that is the whole new text. Whoever asks then shows the change alone: one line of a file
 * of 1,200 need not stand below all of them. The engine keeps the name only where it can make that parameter again,
 * byte for byte, from the diff as it is drawn and the file as it was read for this question, and where `path` is a
 * parameter of the call just as it stands there. It does so once more before the call runs. So nothing is left out
 * where the diff is cut, has characters that cannot be seen, or the file is not plain UTF-8. Where every line ends as on
 * Windows, before and after, no carriage return is drawn, and `lineEnds` of the metadata says `CRLF`.
 *
 * @example
 * import { ApprovalPresentation, Tool } from "@assent/ai"
 * import { Effect, FileSystem, Layer, Path, Schema } from "effect"
 *
 * const Files = FileSystem.layerNoop({
 *   readFileString: () => Effect.succeed("one\ntwo\n"),
 *   realPath: (path) => Effect.succeed(path)
 * })
 *
 * const shown = ApprovalPresentation.fileDiff({ path: "/srv/a.txt", after: "one\n2\n" }).pipe(
 *   Effect.provide(Layer.merge(Files, Path.layer))
 * )
 *
 * await Effect.runPromise(shown).then(({ content }) => content.includes("-two\n+2")) // => true
 *
 * const Plain = Tool.make("WriteFile", {
 *   parameters: { path: Schema.String, content: Schema.String },
 *   needsApproval: true,
 *   dependencies: [FileSystem.FileSystem, Path.Path]
 * })
 *
 * const WriteFile = Tool.present(Plain, ({ content, path }) =>
 *   ApprovalPresentation.fileDiff({ path, after: content, covers: ["content"] })
 * )
 *
 * WriteFile.name // => "WriteFile"
 *
 * @category constructors
 * @since 0.1.0
 */
export const fileDiff = (
  options: Omit<Options, "precondition"> & {
    readonly path: string
    readonly root?: string | undefined
    readonly after: string
    readonly language?: string | undefined
  }
): Effect.Effect<Approval.ApprovalPresentation, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const since = Origins.now()
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const path = paths.resolve(options.root ?? "", options.path)
    const folder = yield* ifThere(files.realPath(paths.dirname(path)))
    const link = Option.getOrUndefined(yield* Effect.option(files.readLink(path)))
    const leadsTo = yield* ifThere(files.realPath(path))
    const bytes = options.covers === undefined ? undefined : yield* ifThere(files.readFile(path))
    const before = bytes === undefined ? yield* ifThere(files.readFileString(path)) : new TextDecoder().decode(bytes)
    const isElsewhere = link !== undefined || (leadsTo !== undefined && leadsTo !== path)
    const isCrlf = options.covers !== undefined && Origins.areCrlf(before ?? "", options.after)
    const drawn = isCrlf ? Origins.withoutReturns : identity
    const shown = yield* makeDiff({
      ...options,
      before: drawn(before ?? ""),
      after: drawn(options.after),
      state: JSON.stringify({
        folder,
        link,
        leadsTo,
        isNew: before === undefined,
        ...(isCrlf ? { isCrlf } : undefined)
      }),
      metadata: {
        ...(isElsewhere ? definedFields({ leadsTo: leadsTo ?? link }) : undefined),
        ...options.metadata,
        ...(isCrlf ? { lineEnds: "CRLF" } : undefined)
      }
    })
    // A file whose bytes the text does not say, or one that was made or taken away between the two looks, proves nothing.
    return isSame(bytes, before)
      ? Origins.keep(shown, { path: options.path, before: drawn(before ?? ""), isCrlf, since })
      : shown
  })

/**
 * Data, as indented JSON.
 *
 * @example
 * import { ApprovalPresentation } from "@assent/ai"
 *
 * const shown = ApprovalPresentation.structured({ to: "ada", amount: 20 })
 *
 * shown.content // => `{\n  "to": "ada",\n  "amount": 20\n}`
 * shown.language // => "json"
 *
 * @category constructors
 * @since 0.1.0
 */
export const structured = (value: Schema.Json, options?: Options): Approval.ApprovalPresentation =>
  new Approval.ApprovalPresentation({
    type: "structured",
    content: JSON.stringify(value, null, 2),
    language: "json",
    ...definedFields(options)
  })

/**
 * A digest for `precondition`: SHA-256 of what a presentation was made from, as base64url.
 *
 * @example
 * import { ApprovalPresentation } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * // Approved with a balance of 100, and asked again where it is another one as the call is about to run.
 * const shown = (balance: number) =>
 *   Effect.map(ApprovalPresentation.digest(`${balance}`), (precondition) =>
 *     ApprovalPresentation.text("Pay 20", { precondition }))
 *
 * const [before, same, changed] = await Effect.runPromise(Effect.all([shown(100), shown(100), shown(80)]))
 *
 * before.precondition === same.precondition // => true
 * before.precondition === changed.precondition // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const digest = (state: string): Effect.Effect<string> => Cryptography.sha256(state)

// =============================================================================
// Internals
// =============================================================================

/** Whether a text is all that a file has. A decoder leaves out a byte order mark, and replaces what is no text. */
const isSame = (bytes: Uint8Array | undefined, text: string | undefined): boolean => {
  if (bytes === undefined || text === undefined) return bytes === undefined && text === undefined
  const encoded = new TextEncoder().encode(text)
  return encoded.length === bytes.length && encoded.every((byte, index) => byte === bytes[index])
}

const ifThere = <A>(
  effect: Effect.Effect<A, PlatformError.PlatformError>
): Effect.Effect<A | undefined, PlatformError.PlatformError> =>
  Effect.catchReason(effect, "PlatformError", "NotFound", () => Effect.undefined)

const named = (
  fields: { readonly [name: string]: string | undefined },
  options: Options | undefined
): { readonly metadata?: { readonly [name: string]: Schema.Json }; readonly precondition?: string } => {
  const metadata = { ...definedFields(fields), ...options?.metadata }
  return {
    ...(Object.keys(metadata).length === 0 ? undefined : { metadata }),
    ...definedFields({ precondition: options?.precondition, covers: options?.covers })
  }
}
