/** Which version of a library is measured. */
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.join(import.meta.dirname, "..")

/** That of a package installed here, or at the root. */
export const versionOf = (name: string): string => {
  const file = [import.meta.dirname, root]
    .map((folder) => Path.join(folder, "node_modules", name, "package.json"))
    .find((file) => Fs.existsSync(file))
  if (file === undefined) throw new Error(`${name} is not installed.`)
  return JSON.parse(Fs.readFileSync(file, "utf8")).version
}
