import { run } from "../../../ai/test/signals/agent.ts"
import { SqlApproval } from "../../src/index.ts"

run(SqlApproval.layer({ filename: `${process.argv[4]}/approvals.db` }))
