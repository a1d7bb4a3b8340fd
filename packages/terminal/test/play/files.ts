/** Files in memory, which a test may change at any time: all that a diff of a file reads. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"

export type Files = Map<string, string>

const missing = (path: string) =>
  PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "readFile", pathOrDescriptor: path })

export const layer = (files: Files): Layer.Layer<FileSystem.FileSystem | Path.Path> => {
  const read = (path: string) =>
    Effect.suspend(() => {
      const content = files.get(path)
      return content === undefined ? Effect.fail(missing(path)) : Effect.succeed(content)
    })
  return Layer.merge(
    FileSystem.layerNoop({
      readFileString: read,
      readFile: (path) => Effect.map(read(path), (text) => new TextEncoder().encode(text)),
      realPath: (path) => Effect.succeed(path)
    }),
    Path.layer
  )
}
