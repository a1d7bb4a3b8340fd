import { ApprovalJournal } from "../../src/index.ts"
import { run } from "./agent.ts"

run(ApprovalJournal.layerMemory())
