import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    projects: [
      "packages/ai",
      "packages/ai-sdk",
      "packages/openai",
      "packages/shell",
      "packages/sql",
      "packages/terminal",
      "packages/web"
    ]
  }
})
