import * as Path from "node:path"
import { defineConfig } from "vitest/config"

const conditions = ["@assent/source", "node", "import", "module", "default"]

export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name: "browser",
    include: ["*.test.ts"],
    globalSetup: "setup.ts",
    reporters: ["tree", "./reporter.ts"],
    testTimeout: 30_000,
    maxConcurrency: 4,
    env: { NODE_COMPILE_CACHE: Path.join(import.meta.dirname, "../../../node_modules/.cache/node") }
  }
})
