import * as Path from "node:path"
import { defineConfig } from "vitest/config"
import { extract } from "../ai/test/examples/extract.ts"

const conditions = ["@assent/source", "node", "import", "module", "default"]

// Here and not in a `globalSetup`, because vitest looks for test files before it runs that.
extract({
  source: Path.join(import.meta.dirname, "src"),
  generated: Path.join(import.meta.dirname, "test/examples/generated")
})

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name: "shell",
    include: ["test/**/*.test.ts"],
    typecheck: { enabled: true, include: ["test/**/*.test-d.ts"], tsconfig: "test/tsconfig.json" }
  }
})
