import { run } from "../../../ai/test/signals/agent.ts"
import * as SqlApproval from "../../src/SqlApproval.ts"

run(SqlApproval.layer({ filename: `${process.argv[4]}/approvals.db` }))
