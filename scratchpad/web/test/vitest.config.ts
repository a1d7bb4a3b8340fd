import { defineConfig } from "vitest/config"
import { conditions } from "./build.ts"

export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name: "browser",
    include: ["*.test.ts"],
    globalSetup: "setup.ts",
    reporters: ["tree", "./reporter.ts"],
    testTimeout: 60_000,
    // In these a browser and a server start, which a busy machine does not do in ten seconds.
    hookTimeout: 60_000,
    // A change does not wait for one scenario in a thousand: there it has a second try, which is shown. Here it has none.
    retry: process.env["CI"] === "true" ? 1 : 0,
    // More than there are cores, for a scenario waits for its page to settle; with more, more windows are opened.
    maxConcurrency: 7
  }
})
