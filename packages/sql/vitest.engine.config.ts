/** The engine's tests, on SQLite instead of memory: `npm run test:sqlite`. */
import * as Path from "node:path"
import { mergeConfig } from "vitest/config"
import engine from "../ai/vitest.config.ts"

const here = (path: string) => Path.join(import.meta.dirname, "test/engine", path)

export default mergeConfig(engine, {
  resolve: {
    alias: [
      { find: /^\.\/internal\/store\/memory\.ts$/, replacement: here("memory.ts") },
      { find: /^\.\/internal\/store\/memoryCore\.ts$/, replacement: here("memoryCore.ts") }
    ]
  },
  test: {
    name: "engine",
    exclude: [
      // They use no store.
      "test/{config,decide,history,policy,seal}/**",
      "test/{architecture,documentation,specification,upstream,workspace}.test.ts",
      "test/Approval{Config,Matcher,Policy,Presentation}.*",
      // What the store in memory is made of.
      "test/store/ordered.test.ts",
      // `npm run laws -- --sqlite`
      "test/search/{main,search}.test.ts"
    ],
    // Through Vite, because Node knows no aliases.
    experimental: { viteModuleRunner: true },
    // A database takes five milliseconds to make, and some tests make a thousand.
    testTimeout: 120_000,
    setupFiles: [here("setup.ts")],
    reporters: ["default", here("reporter.ts")]
  }
})
