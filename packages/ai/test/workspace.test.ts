/**
 * What a newcomer's `npm ci` needs, whatever their machine: nothing here is seen by running on the author's.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.join(import.meta.dirname, "../../..")
const read = (path: string): string => Fs.readFileSync(Path.join(root, path), "utf8")

interface Manifest {
  readonly private?: boolean
  readonly name?: string
  readonly version?: string
  readonly description?: string
  readonly license?: string
  readonly keywords?: ReadonlyArray<string>
  readonly homepage?: string
  readonly repository?: { readonly type: string; readonly url: string; readonly directory?: string }
  readonly bugs?: { readonly url: string }
  readonly engines?: { readonly node: string }
  readonly files?: ReadonlyArray<string>
  readonly publishConfig?: { readonly access: string; readonly provenance: boolean }
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
}

interface Locked extends Manifest {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
}

const lock: { readonly packages: Record<string, Locked> } = JSON.parse(read("package-lock.json"))
const rootManifest: Manifest = JSON.parse(read("package.json"))
const manifests: ReadonlyArray<readonly [string, Manifest]> = [
  ["package.json", rootManifest],
  ...Fs.readdirSync(Path.join(root, "packages"))
    .map((name) => `packages/${name}/package.json`)
    .filter((path) => Fs.existsSync(Path.join(root, path)))
    .map((path) => [path, JSON.parse(read(path))] as const)
]

const published = manifests.filter(([, { private: isPrivate }]) => isPrivate !== true)

describe("workspace", () => {
  it("locks the node of every platform", () => {
    const platforms = Object.entries(rootManifest.optionalDependencies ?? {})
    assert.lengthOf(platforms, 5)
    for (const [name, version] of platforms) {
      const locked = lock.packages[`node_modules/${name}`]
      assert.strictEqual(
        locked?.version,
        version,
        `a missing optional version is dropped silently from the lock: ${name}`
      )
      assert.isString(locked?.integrity, name)
    }
  })

  it("locks every optional dependency, or `npm ci` refuses the lock", () => {
    const paths = Object.keys(lock.packages)
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) =>
          !paths.some((path) => path === `node_modules/${name}` || path.endsWith(`/node_modules/${name}`))
        )
        .map((name) => `${name} of ${path}`)
    )
    assert.deepStrictEqual(missing, [], "the registry lacks these versions: choose one of the parent that is complete")
  })

  it("names no registry host in the lock", () => {
    const resolved = Object.values(lock.packages).flatMap((locked) => locked.resolved ?? [])
    assert.deepStrictEqual(resolved.filter((location) => /^[a-z+]+:/.test(location)), [])
  })

  it.each(manifests)("%s pins what it installs", (_, manifest) => {
    const installed = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
    // `*` is a package of this workspace.
    const loose = Object.entries(installed).filter(([name, version]) =>
      !(name.startsWith("@assent/") && version === "*") && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)
    )
    assert.deepStrictEqual(loose, [])
  })

  it.each(manifests)("%s: AGENTS.md says what each dependency is for", (_, manifest) => {
    const agents = read("AGENTS.md")
    const names = Object.keys({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
      ...manifest.peerDependencies
    })
    const silent = names.filter((name) => !name.startsWith("@assent/") && !agents.includes(`\`${name}\``))
    assert.deepStrictEqual(silent, [], "add a line to the table of dependencies in AGENTS.md")
  })

  it.each(published)("%s: its license is packed with it", (path) => {
    assert.strictEqual(read(path.replace("package.json", "LICENSE")), read("LICENSE"))
  })

  it.each(published)("%s says on npm what it is, where it lives and what it fits", (path, manifest) => {
    const directory = Path.posix.dirname(path)
    const address = rootManifest.homepage?.replace(/#.*$/, "") ?? ""
    assert.match(address, /^https:\/\/github\.com\/[^/]+\/[^/]+$/)
    assert.deepStrictEqual(rootManifest.repository, { type: "git", url: `git+${address}.git` })
    assert.deepInclude(manifest, {
      license: "MIT",
      homepage: `${address}/tree/main/${directory}#readme`,
      repository: { type: "git", url: `git+${address}.git`, directory },
      bugs: { url: `${address}/issues` },
      publishConfig: { access: "public", provenance: true }
    })
    assert.isAbove(manifest.description?.length ?? 0, 20)
    assert.includeMembers([...manifest.keywords ?? []], ["effect", "ai", "tool-approval"])
    assert.match(manifest.engines?.node ?? "", /^>=\d+\.\d+\.0$/)
    assert.includeMembers([...manifest.files ?? []], ["src", "dist", "CHANGELOG.md"])
    // Every part of effect/ai is marked unstable, so another minor version of effect may be another one.
    assert.match(manifest.peerDependencies?.["effect"] ?? "", /^~4\.\d+\.0$/)
  })

  it.each(published)("%s: its siblings are those of its own version, and all have one", (_, manifest) => {
    assert.strictEqual(manifest.version, published[0]![1].version)
    const siblings = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
      .filter(([name]) => name.startsWith("@assent/"))
    assert.lengthOf(siblings, manifest.name === "@assent/ai" ? 0 : 1)
    for (const [name, range] of siblings) assert.strictEqual(range, `^${manifest.version}`, name)
  })

  it("no workflow needs a secret", () => {
    const workflows = Fs.readdirSync(Path.join(root, ".github/workflows")).map((file) =>
      read(`.github/workflows/${file}`)
    )
    assert.isNotEmpty(workflows)
    assert.isTrue(workflows.some((text) => text.includes("id-token: write") && text.includes("release:publish")))
    for (const text of workflows) assert.notMatch(text, /secrets\.|_TOKEN: (?!\$\{\{ github\.token \}\})/)
  })

  it("README shows the program it says it shows", () => {
    for (const page of ["README.md", "packages/ai/README.md"]) {
      assert.include(read(page), read("scratchpad/hello.ts").trimEnd())
    }
  })
})
