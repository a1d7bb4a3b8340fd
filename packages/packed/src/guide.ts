/**
 * Before `@assent/ai` is packed: puts the repository's README, which is the guide, into the package, so that whoever has
 * only the package can read it. `packages/ai/docs` is not kept in git.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { readableAnywhere } from "./links.ts"

const docs = Path.resolve(import.meta.dirname, "../../ai/docs")

Fs.mkdirSync(docs, { recursive: true })
Fs.writeFileSync(Path.join(docs, "guide.md"), readableAnywhere("README.md"))
