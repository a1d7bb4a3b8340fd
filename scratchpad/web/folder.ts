/** The folder that the agent works in, and the list of what really ran there. */
import { Context, Effect, FileSystem, Layer, Path } from "effect"

const contents = {
  "debug.log": "2019-03-01T09:00:00Z DEBUG nothing to report\n".repeat(40),
  "trace.log": "2019-03-01T09:00:00Z TRACE entered the loop\n".repeat(400),
  "poem.txt": "Roses are red,\nviolets are green,\nsugar is sweet,\nand so is caffeine.\n",
  "budget.csv": "month,rent,food\nJanuary,900,310\nFebruary,900,280\n",
  // A careless page shows this name as "holidayexe.jpg".
  "holiday\u202egpj.exe": "<script>alert('from a file')</script>\n"
}

export class Folder extends Context.Service<Folder, {
  readonly path: string
  readonly has: (name: string) => Effect.Effect<boolean>
  readonly read: (name: string) => Effect.Effect<string, string>
  readonly write: (name: string, content: string) => Effect.Effect<void, string>
  readonly remove: (name: string) => Effect.Effect<void, string>
  /** Writes down that a tool ran. */
  readonly note: (tool: string, params: object) => Effect.Effect<void>
}>()("web/Folder") {
  static readonly layer = (data: string) =>
    Layer.effect(
      this,
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { join } = yield* Path.Path
        const path = join(data, "files")
        if (!(yield* fs.exists(path))) {
          yield* fs.makeDirectory(path, { recursive: true })
          for (const [name, text] of Object.entries(contents)) yield* fs.writeFileString(join(path, name), text)
        }
        const has = (name: string) => Effect.orDie(Effect.map(fs.readDirectory(path), (names) => names.includes(name)))
        const inside = (name: string) =>
          Effect.filterOrFail(
            Effect.as(has(name), join(path, name)),
            () => /^[^/\\]+$/.test(name) && !name.startsWith("."),
            () => `"${name}" is no name of a file in this folder.`
          )
        const existing = (name: string) =>
          Effect.flatMap(
            Effect.all([inside(name), has(name)]),
            ([file, isThere]) => isThere ? Effect.succeed(file) : Effect.fail(`There is no file "${name}".`)
          )
        return {
          path,
          has,
          read: (name) => Effect.flatMap(existing(name), (file) => Effect.orDie(fs.readFileString(file))),
          write: (name, content) =>
            Effect.flatMap(inside(name), (file) => Effect.orDie(fs.writeFileString(file, content))),
          remove: (name) => Effect.flatMap(existing(name), (file) => Effect.orDie(fs.remove(file))),
          note: (tool, params) =>
            Effect.orDie(
              fs.writeFileString(join(data, "ran.log"), `${JSON.stringify({ tool, params })}\n`, { flag: "a" })
            )
        }
      })
    )
}
