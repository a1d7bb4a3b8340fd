/** Plans in which somebody leaves that once broke a law, made small; a file is what `npm run laws` prints. */
import * as Path from "node:path"
import { describeCorpus } from "../describe.ts"
import * as Search from "./search.ts"

describeCorpus("plans that once broke a law where somebody leaves", Path.join(import.meta.dirname, "corpus"), Search)
