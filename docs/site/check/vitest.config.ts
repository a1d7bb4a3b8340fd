import { defineConfig } from "vitest/config"

export default defineConfig({
  root: import.meta.dirname,
  test: { name: "site", include: ["*.test.ts"], testTimeout: 120_000, hookTimeout: 60_000 }
})
