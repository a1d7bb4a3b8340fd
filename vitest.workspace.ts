import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    projects: ["packages/ai", "packages/openai", "packages/shell", "packages/terminal"]
  }
})
