/**
 * OpenAI's own tools. Most run at OpenAI; the shells and `apply_patch` run on the user's machine, in a handler of the
 * program.
 *
 * Where a tool can do harm, asking is the default: a hosted MCP server asks before each of its tools unless
 * `require_approval` says otherwise, and {@link LocalShell}, {@link Shell} and {@link ApplyPatch} ask before each call
 * unless `needsApproval` does.
 *
 * @since 0.1.0
 */
import * as Tool from "@assent/ai/Tool"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { returningFailures } from "./internal/tools/failures.ts"
import { named } from "./internal/tools/names.ts"
import * as Schemas from "./OpenAiToolSchema.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * Any of OpenAI's own tools.
 *
 * @category models
 * @since 0.1.0
 */
export type OpenAiTool =
  | ReturnType<typeof ApplyPatch>
  | ReturnType<typeof CodeInterpreter>
  | ReturnType<typeof Custom>
  | ReturnType<typeof FileSearch>
  | ReturnType<typeof ImageGeneration>
  | ReturnType<typeof LocalShell>
  | ReturnType<typeof Mcp>
  | ReturnType<typeof Shell>
  | ReturnType<typeof WebSearch>
  | ReturnType<typeof WebSearchPreview>

/**
 * A text that may be kept out of sight.
 *
 * @category models
 * @since 0.1.0
 */
export type Secret = string | Redacted.Redacted<string>

type McpArgs = typeof Schemas.McpArgs.Encoded

/**
 * A hosted MCP server.
 *
 * @category models
 * @since 0.1.0
 */
export interface McpOptions<Name extends string = string>
  extends Omit<McpArgs, "authorization" | "headers" | "require_approval">
{
  /**
   * The tool's name in a toolkit; `"OpenAiMcp"` when left out. A toolkit with several servers gives each another name.
   */
  readonly name?: Name | undefined
  /** An OAuth access token for the server or connector. It is kept `Redacted`, and sent only to OpenAI. */
  readonly authorization?: Secret | undefined
  /** Headers that OpenAI sends to the server. They are kept `Redacted`. */
  readonly headers?: Readonly<Record<string, Secret>> | null | undefined
  /**
   * Which of the server's tools a person is asked about: `"always"`, also when left out or `null`, `"never"`, or filters
   * by name and by whether a tool only reads.
   */
  readonly require_approval?: McpArgs["require_approval"] | null | undefined
}

type CodeInterpreterArgs = typeof Schemas.CodeInterpreterArgs.Encoded

type AutoContainer = Exclude<CodeInterpreterArgs["container"], string>

type Allowlist = Extract<NonNullable<AutoContainer["network_policy"]>, { readonly type: "allowlist" }>

/**
 * Where OpenAI runs code.
 *
 * @category models
 * @since 0.1.0
 */
export interface CodeInterpreterOptions {
  /** The id of a container, or what a new one is like. */
  readonly container:
    | string
    | (Omit<AutoContainer, "network_policy"> & {
      readonly network_policy?:
        | Exclude<AutoContainer["network_policy"], Allowlist | undefined>
        | (Omit<Allowlist, "domain_secrets"> & {
          /** What the code may send to a domain. The values are kept `Redacted`. */
          readonly domain_secrets?: ReadonlyArray<{
            readonly domain: string
            readonly name: string
            readonly value: Secret
          }>
        })
    })
}

/**
 * A tool that runs on the user's machine.
 *
 * @category models
 * @since 0.1.0
 */
export interface LocalOptions<
  Params extends Schema.Constraint,
  Mode extends Tool.FailureMode | undefined = undefined
> {
  /** Whether a failure of the handler fails the turn (`"error"`, the default) or is returned to the model. */
  readonly failureMode?: Mode | undefined
  /** Whether a person must be asked before a call runs; `true` when left out. */
  readonly needsApproval?: Tool.NeedsApproval<Params> | undefined
}

/**
 * A tool whose input is a text.
 *
 * @category models
 * @since 0.1.0
 */
export interface CustomOptions<Name extends string, Mode extends Tool.FailureMode | undefined = undefined> {
  /** What the model calls it. */
  readonly name: Name
  /** What it does, for the model. */
  readonly description?: string
  /** Which form the input has: a grammar in Lark's or a regular expression's syntax; any text when left out. */
  readonly format?: typeof Schemas.CustomArgs.Encoded["format"] & {}
  /** Whether a failure of the handler fails the turn (`"error"`, the default) or is returned to the model. */
  readonly failureMode?: Mode | undefined
  /** Whether a person must be asked before a call runs; not when left out. */
  readonly needsApproval?: Tool.NeedsApproval<typeof Schemas.CustomParameters> | undefined
}

// =============================================================================
// Hosted MCP
// =============================================================================

/**
 * The tools of an MCP server that OpenAI connects to.
 *
 * A call of it has the parameters `{ server_label, name, arguments }`: which of the server's tools, and with what.
 *
 * @example
 * import { OpenAiTool } from "@assent/openai"
 * import { Redacted } from "effect"
 *
 * const Repositories = OpenAiTool.Mcp({
 *   name: "Repositories",
 *   server_label: "github",
 *   server_url: "https://api.githubcopilot.com/mcp/",
 *   authorization: Redacted.make("token"),
 *   require_approval: { never: { read_only: true } }
 * })
 *
 * Repositories.name // => "Repositories"
 * JSON.stringify(Repositories.args.authorization) // => '"<redacted>"'
 *
 * OpenAiTool.Mcp({ server_label: "wiki", server_url: "https://mcp.deepwiki.com/mcp" }).args.require_approval // => "always"
 *
 * @category constructors
 * @since 0.1.0
 */
export const Mcp = <const Name extends string = "OpenAiMcp">(
  options: McpOptions<Name>
): Tool.ProviderDefined<"openai.mcp", Name, {
  readonly args: typeof Schemas.McpArgs
  readonly parameters: typeof Schemas.McpParameters
  readonly success: typeof Schemas.McpSuccess
  readonly failure: typeof Schemas.McpFailure
  readonly failureMode: "return"
}> => {
  const { authorization, headers, name, require_approval, ...args } = options
  return returningFailures(Tool.providerDefined({
    id: "openai.mcp",
    customName: named<Name>(name, "OpenAiMcp"),
    providerName: "mcp",
    args: Schemas.McpArgs,
    parameters: Schemas.McpParameters,
    success: Schemas.McpSuccess,
    failure: Schemas.McpFailure
  }))({
    ...args,
    require_approval: require_approval ?? "always",
    ...(authorization === undefined ? undefined : { authorization: redact(authorization, "authorization") }),
    ...(headers === undefined ? undefined : {
      headers: headers === null ? null : Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, redact(value, name)])
      )
    })
  })
}

// =============================================================================
// Run by OpenAI
// =============================================================================

/**
 * Searches the web.
 *
 * @example
 * import { LanguageModel, Toolkit } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const Search = OpenAiTool.WebSearch({ search_context_size: "low", filters: { allowed_domains: ["effect.website"] } })
 *
 * const program = Effect.gen(function*() {
 *   const found = ResponsesServer.webSearch({ query: "effect 4", sources: ["https://effect.website"] })
 *   const server = yield* ResponsesServer.make({ turns: [[found, ResponsesServer.text("It is out.")]] })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const response = yield* LanguageModel.generateText({ prompt: "Is it out?", toolkit: Toolkit.make(Search) }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client))
 *   )
 *   return [response.toolCalls.map((call) => call.name), response.text]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => [["OpenAiWebSearch"], "It is out."]
 *
 * @category constructors
 * @since 0.1.0
 */
export const WebSearch = returningFailures(Tool.providerDefined({
  id: "openai.web_search",
  customName: "OpenAiWebSearch",
  providerName: "web_search",
  args: Schemas.WebSearchArgs,
  parameters: Schemas.WebSearchParameters,
  success: Schemas.WebSearchSuccess,
  failure: Schemas.WebSearchSuccess
}))

/**
 * Searches the web, as OpenAI's older models do.
 *
 * @example
 * import { OpenAiTool } from "@assent/openai"
 *
 * const Search = OpenAiTool.WebSearchPreview({ search_context_size: "low" })
 *
 * Search.id // => "openai.web_search_preview"
 * Search.args // => { search_context_size: "low" }
 *
 * @category constructors
 * @since 0.1.0
 */
export const WebSearchPreview = returningFailures(Tool.providerDefined({
  id: "openai.web_search_preview",
  customName: "OpenAiWebSearchPreview",
  providerName: "web_search_preview",
  args: Schemas.WebSearchPreviewArgs,
  parameters: Schemas.WebSearchParameters,
  success: Schemas.WebSearchSuccess,
  failure: Schemas.WebSearchSuccess
}))

/**
 * Searches files in vector stores at OpenAI.
 *
 * @example
 * import { OpenAiTool } from "@assent/openai"
 *
 * const Search = OpenAiTool.FileSearch({ vector_store_ids: ["vs_1"], max_num_results: 5 })
 *
 * Search.name // => "OpenAiFileSearch"
 * Search.args // => { vector_store_ids: ["vs_1"], max_num_results: 5 }
 *
 * @category constructors
 * @since 0.1.0
 */
export const FileSearch = returningFailures(Tool.providerDefined({
  id: "openai.file_search",
  customName: "OpenAiFileSearch",
  providerName: "file_search",
  args: Schemas.FileSearchArgs,
  parameters: Schemas.FileSearchParameters,
  success: Schemas.FileSearchSuccess,
  failure: Schemas.FileSearchSuccess
}))

/**
 * Makes and changes images.
 *
 * @example
 * import { OpenAiTool } from "@assent/openai"
 *
 * const Draw = OpenAiTool.ImageGeneration({ size: "1024x1024", output_format: "webp" })
 *
 * Draw.id // => "openai.image_generation"
 * Draw.args // => { size: "1024x1024", output_format: "webp" }
 *
 * @category constructors
 * @since 0.1.0
 */
export const ImageGeneration = returningFailures(Tool.providerDefined({
  id: "openai.image_generation",
  customName: "OpenAiImageGeneration",
  providerName: "image_generation",
  args: Schemas.ImageGenerationArgs,
  success: Schemas.ImageGenerationSuccess,
  failure: Schemas.ImageGenerationSuccess
}))

/**
 * Runs Python in a container at OpenAI.
 *
 * @example
 * import { LanguageModel, Toolkit } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const toolkit = Toolkit.make(OpenAiTool.CodeInterpreter({ container: { type: "auto", memory_limit: "4g" } }))
 *
 * const program = Effect.gen(function*() {
 *   const ran = ResponsesServer.codeInterpreter({ code: "print(2 + 3)", logs: "5\n" })
 *   const server = yield* ResponsesServer.make({ turns: [[ran, ResponsesServer.text("It is 5.")]] })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const response = yield* LanguageModel.generateText({ prompt: "What is 2 + 3?", toolkit }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client))
 *   )
 *   return response.toolResults.map(({ result }) => JSON.stringify(result))
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => [`{"outputs":[{"type":"logs","logs":"5\\n"}]}`]
 *
 * @category constructors
 * @since 0.1.0
 */
export const CodeInterpreter = (
  options: CodeInterpreterOptions
): Tool.ProviderDefined<"openai.code_interpreter", "OpenAiCodeInterpreter", {
  readonly args: typeof Schemas.CodeInterpreterArgs
  readonly parameters: typeof Schemas.CodeInterpreterParameters
  readonly success: typeof Schemas.CodeInterpreterSuccess
  readonly failure: typeof Schemas.CodeInterpreterSuccess
  readonly failureMode: "return"
}> =>
  returningFailures(Tool.providerDefined({
    id: "openai.code_interpreter",
    customName: "OpenAiCodeInterpreter",
    providerName: "code_interpreter",
    args: Schemas.CodeInterpreterArgs,
    parameters: Schemas.CodeInterpreterParameters,
    success: Schemas.CodeInterpreterSuccess,
    failure: Schemas.CodeInterpreterSuccess
  }))({ container: redactContainer(options.container) })

// =============================================================================
// Run by the program
// =============================================================================

/**
 * A tool of the program whose input is a text and no JSON: code, SQL, a patch; of any form, or of one that a grammar says.
 * Its handler gets `{ input }` and returns a text. A person is asked if `needsApproval` says so, as with `Tool.make`.
 *
 * @example
 * import { LanguageModel, Response, Toolkit } from "@assent/ai"
 * import { OpenAiTool } from "@assent/openai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const Sql = OpenAiTool.Custom({
 *   name: "Sql",
 *   description: "Runs a query.",
 *   format: { type: "grammar", syntax: "regex", definition: "SELECT .+" },
 *   needsApproval: true
 * })
 * const toolkit = Toolkit.make(Sql)
 *
 * const program = LanguageModel.generateText({ prompt: "Who is there?", toolkit }).pipe(
 *   Effect.map((response) => Response.approvalRequests(response).map((request) => request.description)),
 *   Effect.provide(toolkit.toLayer({ Sql: ({ input }) => Effect.succeed(`no rows for ${input}`) })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Sql", params: { input: "SELECT name FROM users" } })]]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => ["Sql(input='SELECT name FROM users')"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const Custom = <const Name extends string, Mode extends Tool.FailureMode | undefined = undefined>(
  options: CustomOptions<Name, Mode>
): Tool.ProviderDefined<"openai.custom", Name, {
  readonly args: typeof Schemas.CustomArgs
  readonly parameters: typeof Schemas.CustomParameters
  readonly success: typeof Schema.String
  readonly failure: typeof Schema.Never
  readonly failureMode: Mode extends undefined ? "error" : Mode
}, true> => {
  const { failureMode, name, needsApproval, ...args } = options
  const tool = Tool.providerDefined({
    id: "openai.custom",
    customName: name,
    providerName: "custom",
    requiresHandler: true,
    args: Schemas.CustomArgs,
    parameters: Schemas.CustomParameters,
    success: Schema.String
  })<Mode>({ ...args, failureMode })
  return needsApproval === undefined ? tool : Tool.setNeedsApproval(tool, needsApproval)
}

/**
 * Commands on the user's machine, for `codex-mini-latest`. A person is asked before each, unless `needsApproval` says
 * otherwise. The program runs them, in the toolkit's handler.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiTool } from "@assent/openai"
 * import { Effect } from "effect"
 *
 * const Guarded = OpenAiTool.LocalShell({})
 * const Trusting = OpenAiTool.LocalShell({
 *   needsApproval: ({ action }) => action.command[0] !== "ls"
 * })
 *
 * const call = {
 *   id: "call-1",
 *   name: "OpenAiLocalShell",
 *   params: { action: { type: "exec", command: ["ls", "src"], env: {} } }
 * }
 *
 * await Effect.runPromise(LanguageModel.isApprovalNeeded(Guarded, call, [])) // => true
 * await Effect.runPromise(LanguageModel.isApprovalNeeded(Trusting, call, [])) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const LocalShell = <Mode extends Tool.FailureMode | undefined = undefined>(
  options: LocalOptions<typeof Schemas.LocalShellParameters, Mode>
): Tool.ProviderDefined<"openai.local_shell", "OpenAiLocalShell", {
  readonly args: typeof Schema.Void
  readonly parameters: typeof Schemas.LocalShellParameters
  readonly success: typeof Schemas.LocalShellSuccess
  readonly failure: typeof Schema.Never
  readonly failureMode: Mode extends undefined ? "error" : Mode
}, true> =>
  Tool.setNeedsApproval(
    localShell<Mode>({ failureMode: options.failureMode }),
    options.needsApproval ?? true
  )

/**
 * Commands on the user's machine, several at a time. A person is asked before each call, unless `needsApproval` says
 * otherwise. The program runs them, in the toolkit's handler.
 *
 * @example
 * import { ApprovalController, Toolkit } from "@assent/ai"
 * import { OpenAiTool } from "@assent/openai"
 * import { Effect, Stream } from "effect"
 *
 * const tools = Toolkit.make(OpenAiTool.Shell({}))
 * const Handlers = tools.toLayer({
 *   OpenAiShell: ({ action }) =>
 *     Effect.succeed({
 *       output: action.commands.map(() => ({ stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } }))
 *     })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const guarded = yield* Toolkit.guard(tools)
 *   const action = { commands: ["rm -r build", "npm run build"], timeout_ms: null, max_output_length: null }
 *   const [result] = yield* Stream.runCollect(yield* guarded.handle("OpenAiShell", { action }))
 *   return result?.isFailure
 * })
 * const answered = (answer: boolean) =>
 *   Effect.provide(program, [Handlers, ApprovalController.layerInteractive(() => answer)])
 *
 * await Effect.runPromise(answered(true)) // => false
 * await Effect.runPromise(answered(false)) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const Shell = <Mode extends Tool.FailureMode | undefined = undefined>(
  options: LocalOptions<typeof Schemas.ShellParameters, Mode>
): Tool.ProviderDefined<"openai.shell", "OpenAiShell", {
  readonly args: typeof Schema.Void
  readonly parameters: typeof Schemas.ShellParameters
  readonly success: typeof Schemas.ShellSuccess
  readonly failure: typeof Schema.Never
  readonly failureMode: Mode extends undefined ? "error" : Mode
}, true> =>
  Tool.setNeedsApproval(
    shell<Mode>({ failureMode: options.failureMode }),
    options.needsApproval ?? true
  )

/**
 * Changes of the user's files, as diffs. A person is asked before each, unless `needsApproval` says otherwise. The
 * program makes them, in the toolkit's handler.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiTool } from "@assent/openai"
 * import { Effect } from "effect"
 *
 * const InSourcesOnly = OpenAiTool.ApplyPatch({
 *   needsApproval: ({ operation }) => operation.type === "delete_file" || !operation.path.startsWith("src/")
 * })
 *
 * const needed = (path: string) =>
 *   LanguageModel.isApprovalNeeded(InSourcesOnly, {
 *     id: "call-1",
 *     name: "OpenAiApplyPatch",
 *     params: { call_id: "call-1", operation: { type: "create_file", path, diff: "+one\n" } }
 *   }, [])
 *
 * await Effect.runPromise(needed("src/a.ts")) // => false
 * await Effect.runPromise(needed("package.json")) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const ApplyPatch = <Mode extends Tool.FailureMode | undefined = undefined>(
  options: LocalOptions<typeof Schemas.ApplyPatchParameters, Mode>
): Tool.ProviderDefined<"openai.apply_patch", "OpenAiApplyPatch", {
  readonly args: typeof Schema.Void
  readonly parameters: typeof Schemas.ApplyPatchParameters
  readonly success: typeof Schemas.ApplyPatchSuccess
  readonly failure: typeof Schema.Never
  readonly failureMode: Mode extends undefined ? "error" : Mode
}, true> =>
  Tool.setNeedsApproval(
    applyPatch<Mode>({ failureMode: options.failureMode }),
    options.needsApproval ?? true
  )

// =============================================================================
// Internals
// =============================================================================

const localShell = Tool.providerDefined({
  id: "openai.local_shell",
  customName: "OpenAiLocalShell",
  providerName: "local_shell",
  requiresHandler: true,
  parameters: Schemas.LocalShellParameters,
  success: Schemas.LocalShellSuccess
})

const shell = Tool.providerDefined({
  id: "openai.shell",
  customName: "OpenAiShell",
  providerName: "shell",
  requiresHandler: true,
  parameters: Schemas.ShellParameters,
  success: Schemas.ShellSuccess
})

const applyPatch = Tool.providerDefined({
  id: "openai.apply_patch",
  customName: "OpenAiApplyPatch",
  providerName: "apply_patch",
  requiresHandler: true,
  parameters: Schemas.ApplyPatchParameters,
  success: Schemas.ApplyPatchSuccess
})

const redact = (secret: Secret, label: string): Redacted.Redacted<string> =>
  Redacted.isRedacted(secret) ? secret : Redacted.make(secret, { label })

const redactContainer = (container: CodeInterpreterOptions["container"]): CodeInterpreterArgs["container"] => {
  if (typeof container === "string") return container
  const { network_policy, ...rest } = container
  if (network_policy === undefined) return rest
  if (network_policy.type === "disabled") return { ...rest, network_policy }
  const { domain_secrets, ...policy } = network_policy
  return {
    ...rest,
    network_policy: domain_secrets === undefined ? policy : {
      ...policy,
      domain_secrets: domain_secrets.map((secret) => ({ ...secret, value: redact(secret.value, secret.name) }))
    }
  }
}
