/**
 * Histories that once broke a law, here or under a mutation of the engine, each made small and kept with a sentence that
 * says why. A file of the corpus is what `npm run laws` prints.
 */
import * as Path from "node:path"
import { describeCorpus } from "./describe.ts"
import * as Search from "./search.ts"

describeCorpus("histories that once broke a law", Path.join(import.meta.dirname, "corpus"), Search)
