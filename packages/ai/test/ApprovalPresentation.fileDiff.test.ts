/**
 * A diff of a file of the disk: what the path is belongs to what was approved (law L4).
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { ApprovalPresentation } from "../src/index.ts"

/** Digests before and after somebody changed something in a folder that is there with `name` below it. */
const preconditions = <E>(
  prepare: (fs: FileSystem.FileSystem, root: string) => Effect.Effect<unknown, E>,
  change: (fs: FileSystem.FileSystem, root: string) => Effect.Effect<unknown, E>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const root = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    yield* fs.makeDirectory(`${root}/sub`)
    yield* prepare(fs, root)
    const shown = ApprovalPresentation.fileDiff({ path: "sub/a.txt", root, after: "new\n" })
    const before = yield* shown
    assert.strictEqual((yield* shown).precondition, before.precondition)
    yield* change(fs, root)
    return { root, before, after: yield* shown }
  })

describe("L4 what a path is, is seen when it changes after the question", () => {
  const cases: ReadonlyArray<
    Parameters<typeof preconditions> extends [infer Prepare, infer Change] ? readonly [string, Prepare, Change]
      : never
  > = [
    [
      "a link in the place of an empty file",
      (fs, root) => fs.writeFileString(`${root}/sub/a.txt`, ""),
      (fs, root) =>
        Effect.all([
          fs.writeFileString(`${root}/target`, ""),
          fs.remove(`${root}/sub/a.txt`),
          fs.symlink(`${root}/target`, `${root}/sub/a.txt`)
        ])
    ],
    [
      "a link to nothing in the place of nothing",
      () => Effect.void,
      (fs, root) => fs.symlink(`${root}/target`, `${root}/sub/a.txt`)
    ],
    [
      "another target of a link",
      (fs, root) => fs.symlink(`${root}/one`, `${root}/sub/a.txt`),
      (fs, root) => Effect.andThen(fs.remove(`${root}/sub/a.txt`), fs.symlink(`${root}/two`, `${root}/sub/a.txt`))
    ],
    [
      "a link in the place of its folder",
      (fs, root) => fs.writeFileString(`${root}/sub/a.txt`, "old\n"),
      (fs, root) =>
        Effect.andThen(fs.rename(`${root}/sub`, `${root}/other`), fs.symlink(`${root}/other`, `${root}/sub`))
    ],
    [
      "an empty file in the place of nothing",
      () => Effect.void,
      (fs, root) => fs.writeFileString(`${root}/sub/a.txt`, "")
    ],
    [
      "another content",
      (fs, root) => fs.writeFileString(`${root}/sub/a.txt`, "old\n"),
      (fs, root) => fs.writeFileString(`${root}/sub/a.txt`, "older\n")
    ]
  ]
  for (const [title, prepare, change] of cases) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const { after, before } = yield* preconditions(prepare, change)
        assert.notStrictEqual(after.precondition, before.precondition)
        assert.match(after.content, /^--- sub\/a\.txt\n/)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  }

  it.effect("the person is told where a link leads", () =>
    Effect.gen(function*() {
      const { after, before, root } = yield* preconditions(
        (fs, root) => fs.writeFileString(`${root}/sub/a.txt`, "old\n"),
        (fs, root) =>
          Effect.all([
            fs.rename(`${root}/sub/a.txt`, `${root}/secret`),
            fs.symlink(`${root}/secret`, `${root}/sub/a.txt`)
          ])
      )
      assert.deepStrictEqual(before.metadata, { path: "sub/a.txt" })
      assert.deepStrictEqual(after.metadata, { path: "sub/a.txt", leadsTo: `${root}/secret` })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("a folder has no diff", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped()
      const error = yield* Effect.flip(ApprovalPresentation.fileDiff({ path: ".", root, after: "" }))
      assert.strictEqual(error._tag, "PlatformError")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
