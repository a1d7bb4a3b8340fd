/**
 * What a person is shown of a call, made: text, a command line, the content of a file, a diff, or data.
 *
 * A presentation is what `needsApproval` or a policy may give (`Approval.needsApproval({ presentation })`), or a tool
 * makes of its parameters with `Tool.present`. It is cut at 100,000 UTF-16 units, with the cut said, and made safe for
 * screens (law L15), as the texts of its metadata are, each a line of at most 4,096 units; what is shown is sealed, and
 * when another would be shown as the call is about to run, it is asked again (law L4).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type * as Schema from "effect/Schema"
import * as TextDiff from "effect/TextDiff"
import * as Approval from "./Approval.ts"
import { definedFields } from "./internal/fields.ts"
import * as Cryptography from "./internal/seal/cryptography.ts"

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
}

/**
 * Plain text.
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
 * The whole content of a file that is written. The language is for highlighting; without one it is left to the reader.
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
 * which is whatever else must not change: when either is another one as the call is about to run, the person is asked
 * again (law L4). For a file of the disk, {@link fileDiff} reads both.
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
  options: Omit<Options, "precondition"> & {
    readonly path: string
    readonly before: string
    readonly after: string
    readonly state?: string | undefined
    readonly language?: string | undefined
  }
): Effect.Effect<Approval.ApprovalPresentation> => {
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
 * nothing. Its precondition is also what the path is, so that a link which somebody puts in the place of a file, or of a
 * folder above it, is seen before the call runs (law L4). A path that leads elsewhere says so as `leadsTo` of the metadata.
 *
 * `root` is the folder that the path is relative to (default: that of the process). It fails where the path is a folder, or cannot be read as text.
 *
 * @example
 * import { ApprovalPresentation } from "@assent/ai"
 * import { Effect, FileSystem, Layer, Path } from "effect"
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
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const path = paths.resolve(options.root ?? "", options.path)
    const folder = yield* ifThere(files.realPath(paths.dirname(path)))
    const link = Option.getOrUndefined(yield* Effect.option(files.readLink(path)))
    const leadsTo = yield* ifThere(files.realPath(path))
    const before = yield* ifThere(files.readFileString(path))
    const isElsewhere = link !== undefined || (leadsTo !== undefined && leadsTo !== path)
    return yield* diff({
      ...options,
      before: before ?? "",
      state: JSON.stringify({ folder, link, leadsTo, isNew: before === undefined }),
      metadata: { ...(isElsewhere ? definedFields({ leadsTo: leadsTo ?? link }) : undefined), ...options.metadata }
    })
  })

/**
 * Data, as indented JSON.
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
 * @category constructors
 * @since 0.1.0
 */
export const digest = (state: string): Effect.Effect<string> => Cryptography.sha256(state)

// =============================================================================
// Internals
// =============================================================================

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
    ...definedFields({ precondition: options?.precondition })
  }
}
