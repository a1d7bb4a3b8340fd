import * as ApprovalJournal from "../../src/ApprovalJournal.ts"
import { run } from "./agent.ts"

run(ApprovalJournal.layerMemory())
