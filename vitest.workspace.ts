import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    // By itself vitest leaves one core alone: of two, that is half of the machine.
    maxWorkers: "100%",
    projects: ["packages/ai", "packages/openai", "packages/shell", "packages/terminal"]
  }
})
