import { defineProject } from "../ai/test/project.ts"

const project = defineProject("ai-sdk", import.meta.dirname)

// Without "module": under it `@smithy/core`, which Bedrock's package needs, has files for bundlers that Node cannot read.
const conditions = ["@assent/source", "node", "import", "default"]

export default { ...project, resolve: { conditions }, ssr: { resolve: { conditions } } }
