/** A file system of texts and bytes by their absolute paths, which a test may change. */
import { Effect, FileSystem, Layer, Path, PlatformError } from "effect"

export type Files = Map<string, string | Uint8Array>

const notFound = (method: string) => (pathOrDescriptor: string) =>
  PlatformError.systemError({ module: "FileSystem", method, _tag: "NotFound", pathOrDescriptor })

export const layer = (files: Files): Layer.Layer<FileSystem.FileSystem | Path.Path> => {
  const find = (method: string, path: string) =>
    Effect.suspend(() => {
      const found = files.get(path)
      return found === undefined ? Effect.fail(notFound(method)(path)) : Effect.succeed(found)
    })
  const readFile = (path: string) =>
    Effect.map(find("readFile", path), (found) => typeof found === "string" ? new TextEncoder().encode(found) : found)
  return Layer.merge(
    FileSystem.layerNoop({
      readFile,
      readFileString: (path) => Effect.map(readFile(path), (bytes) => new TextDecoder().decode(bytes)),
      realPath: (path) =>
        path === "/" || files.has(path) ? Effect.succeed(path) : Effect.fail(notFound("realPath")(path)),
      readLink: (path) => Effect.fail(notFound("readLink")(path))
    }),
    Path.layer
  )
}
