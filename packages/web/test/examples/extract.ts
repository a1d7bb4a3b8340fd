/** Extracts the examples of this package before `npm run check:types`; vitest does it by its own configuration. */
import * as Path from "node:path"
import { extract } from "../../../ai/test/examples/extract.ts"

const directory = import.meta.dirname
extract({ source: Path.join(directory, "../../src"), generated: Path.join(directory, "generated") })
