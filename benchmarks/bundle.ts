/** What a program with one gated tool weighs in a browser or a worker: with all it imports, tree shaken and minified. */
import { gzipSync } from "node:zlib"
import { build } from "vite"
import type { Size } from "./results.ts"
import { versionOf } from "./versions.ts"

const onEffect = (modules: string): string => `
  import * as LanguageModel from "${modules}/LanguageModel"
  import * as Tool from "${modules}/Tool"
  import * as Toolkit from "${modules}/Toolkit"
  import * as Effect from "effect/Effect"
  import * as Schema from "effect/Schema"
  import * as Stream from "effect/Stream"
  const DeleteFile = Tool.make("DeleteFile", {
    parameters: Schema.Struct({ path: Schema.String }),
    success: Schema.String,
    needsApproval: true
  })
  const toolkit = Toolkit.make(DeleteFile)
  const model = LanguageModel.make({
    generateText: () => Effect.succeed([{ type: "text", text: "Done." }]),
    streamText: () => Stream.empty
  })
  export const program = LanguageModel.generateText({ prompt: "Delete it.", toolkit }).pipe(
    Effect.provide(toolkit.toLayer({ DeleteFile: ({ path }) => Effect.succeed(path) })),
    Effect.provideServiceEffect(LanguageModel.LanguageModel, model),
    Effect.runPromise
  )`

const onAi = `
  import { generateText, jsonSchema, tool } from "ai"
  export const program = (model) => generateText({
    model,
    prompt: "Delete it.",
    tools: {
      DeleteFile: tool({
        inputSchema: jsonSchema({ type: "object", properties: { path: { type: "string" } }, required: ["path"] }),
        execute: async ({ path }) => path
      })
    },
    toolApproval: { DeleteFile: "user-approval" },
    experimental_toolApprovalSecret: "secret"
  })`

const programs = [
  { library: "assent", version: versionOf("@assent/ai"), program: onEffect("@assent/ai") },
  { library: "effect", version: versionOf("effect"), program: onEffect("effect/ai") },
  { library: "ai", version: versionOf("ai"), program: onAi }
]

const entry = "\0program"

const bundle = async (program: string): Promise<string> => {
  const outcome = await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: "silent",
    // As it is published, though these processes read the sources.
    resolve: { conditions: ["browser", "import", "module", "default"] },
    plugins: [{
      name: "program",
      resolveId: (id) => id === "program" ? entry : undefined,
      load: (id) => id === entry ? program : undefined
    }],
    build: {
      write: false,
      target: "es2023",
      minify: true,
      modulePreload: false,
      rolldownOptions: { input: "program", output: { format: "es" }, preserveEntrySignatures: "strict" }
    }
  })
  const [output] = [outcome].flat()
  if (output === undefined || !("output" in output)) throw new Error("The bundler gave nothing out.")
  return output.output.map((chunk) => chunk.type === "chunk" ? chunk.code : "").join("\n")
}

export const measureBundles = async (): Promise<ReadonlyArray<Size>> => {
  const sizes: Array<Size> = []
  for (const { library, program, version } of programs) {
    sizes.push({ library, version, bytes: gzipSync(await bundle(program), { level: 9 }).length })
  }
  return sizes
}
