/** What a program does with a library of which it has the declarations alone, written by another TypeScript. */
import * as Library from "#library"
import { LanguageModel, Toolkit } from "@assent/ai"
import { Effect } from "effect"

export const path: string = Effect.runSync(
  Effect.map(Library.Owners, () => "a.txt").pipe(
    Effect.provideService(Library.Owners, { owns: (path) => Effect.succeed(path === "a.txt") })
  )
)

export const handlers = Library.toolkit.toLayer({
  Delete: ({ path }) => Effect.succeed(path.toUpperCase()),
  Count: () => Effect.succeed(1),
  Remind: () => Effect.never
})

export const turn = Effect.map(
  LanguageModel.generateText({ prompt: "Tidy up.", toolkit: Toolkit.make(Library.Delete, Library.Count) }),
  ({ toolResults }) => toolResults.map((part) => part.name === "Delete" && !part.isFailure ? part.result.length : 0)
)

export const servers: "openai.mcp" = Library.Repositories.id

export const generic: string = Library.wrap(Library.Delete.parametersSchema).name
