/**
 * The tests that Stryker runs (`npm run mutation`, see `MUTATION.md`), from the root of the workspace.
 */
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

const conditions = ["@assent/source", "node", "import", "module", "default"]

/** One failing test ends the run of a mutant: first the files that ended the last run, then the quick ones. */
class QuickestFirst extends BaseSequencer {
  override sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const ranked = files.map((file) => {
      const last = this.ctx.cache.getTestSpecificationResult(file)
      return { file, rank: last === undefined ? 0 : last.failed ? -1 : last.duration }
    })
    return Promise.resolve(ranked.toSorted((left, right) => left.rank - right.rank).map(({ file }) => file))
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name: "mutation",
    include: ["packages/ai/test/**/*.test.ts"],
    exclude: [
      // Examples tell; they do not pin.
      "packages/ai/test/examples/**",
      // They read the source as text, or test the test tools, which nothing here mutates.
      "packages/ai/test/{architecture,documentation,workspace}.test.ts",
      "packages/ai/test/testing/**"
    ],
    setupFiles: ["packages/ai/test/mutation/setup.ts"],
    sequence: { sequencer: QuickestFirst },
    // Modules are loaded once and not for each of 50 files: a mutant is switched on while they run.
    isolate: false,
    testTimeout: 3000
  }
})
