/** Every export of a public module says what it is, with its category and its version. */
import * as Path from "node:path"
import { describeDocumentation } from "../../ai/test/house.ts"

describeDocumentation(Path.join(import.meta.dirname, "../src"))
