import { Store } from "@assent/ai"
import { describeStore } from "./laws.ts"

describeStore("a store in memory", Store.makeMemory())
