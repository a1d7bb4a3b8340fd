import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as ApprovalMatcher from "../src/ApprovalMatcher.ts"

const below = (...globs: ReadonlyArray<string>) => ApprovalMatcher.path(globs, { param: "path" })

const src = below("src/**")

const covered = (matcher: ApprovalMatcher.ApprovalMatcher, paths: ReadonlyArray<string>) =>
  paths.filter((path) => matcher.covers({ path }))

type Paths = ReadonlyArray<readonly [path: string, reason: string]>

/** Plain paths of something else. */
const elsewhere: Paths = [
  ["src", "is the folder itself, to be deleted for example"],
  ["srcs/a", "only begins alike"],
  ["lib/src/a", "only ends alike"],
  ["SRC/a", "is another folder where case counts"],
  ["Src/a", "is another folder where case counts"],
  ["ſrc/a", "is `src` only in another case"]
]

/** Each could be another file than it says, on some system or for some tool, so that no relative glob covers it. */
const doubtful: Paths = [
  ["src/../.ssh/id_rsa", "leads out"],
  ["src/..", "is the folder above"],
  ["src/a/../../b", "leads out by a detour"],
  ["src/a/../b", "has to be normalized, which is the tool's business"],
  ["../src/a", "begins outside"],
  ["src/./a", "has to be normalized"],
  ["./src/a", "has to be normalized"],
  ["src//a", "has an empty segment"],
  ["//src/a", "a share of Windows, `src`"],
  ["src/", "is the folder itself"],
  ["src/a/", "is a folder"],
  ["/src/a", "is absolute"],
  ["/work/src/a", "is absolute"],
  ["~/src/a", "is in a home"],
  ["src/~root/a", "is a home for a tool that joins and expands"],
  ["src/GIT~1/config", "is `.git` by its short name"],
  ["src\\a", "is one name on Unix"],
  ["src\\..\\..\\a", "leads out on Windows"],
  ["src/..\\..\\a", "leads out on Windows"],
  ["C:/src/a", "has a drive"],
  ["C:src/a", "has a drive, relative"],
  ["src/C:/a", "has a drive for a tool that joins"],
  ["\\\\server\\src\\a", "is a share"],
  ["\\\\?\\C:\\src\\a", "is a device path"],
  ["file:///src/a", "is a URL"],
  ["src/a.txt:stream", "is a stream of NTFS"],
  ["src/a.txt::$DATA", "is a stream of NTFS"],
  ["src/a\0.png", "ends at NUL for a program in C"],
  ["src/a\n", "ends in a newline"],
  ["src/a\r", "ends in a carriage return"],
  ["src/a\tb", "has a control character"],
  ["src/a\u007f", "has a control character"],
  ["src/a.", "loses its dot on Windows"],
  ["src/a...", "loses its dots on Windows"],
  ["src/a ", "loses its blank on Windows"],
  [" src/a", "begins with a blank"],
  ["src/ a", "begins with a blank"],
  ["src/.. /a", "is `..` on Windows"],
  ["src/.../a", "is `..` or more for some servers"],
  ["src/nul", "is a device of Windows"],
  ["src/COM1.txt", "is a device of Windows"],
  ["src/aux .c", "is a device of Windows"],
  ["src/lpt\u00b9", "is a device of Windows"],
  ["src/conout$", "is a device of Windows"],
  ["src/cafe\u0301.ts", "is not NFC: another name on Linux, the same on macOS"],
  ["src/\u212bngstrom.ts", "is not NFC"],
  ["src/\uff0e\uff0e/a", "leads out where characters are made compatible (NFKC)"],
  ["src/\u2025/a", "leads out where characters are made compatible"],
  ["src/a\uff0f..\uff0fb", "leads out where characters are made compatible"],
  ["\uff0fetc", "is absolute where characters are made compatible"],
  ["src/\u2100", "is `a/c` where characters are made compatible"],
  ["src/\uff43\uff4f\uff4e", "is a device of Windows where characters are made compatible"],
  ["src/a\uff3cb", "has a backslash where characters are made compatible"],
  ["src/\u200ba", "has a character of no width"],
  ["src/.g\u200cit/config", "is `.git` where such characters are ignored"],
  ["src/\u202egpj.exe", "reads backwards"],
  ["src/a\u00a0b", "has a look-alike blank"],
  ["src/a\u2028b", "has a line separator"],
  ["src/\ud800", "is not Unicode"],
  ["src/%2e%2e/a", "leads out for a tool that decodes"],
  ["src/a%00.png", "ends at NUL for a tool that decodes"],
  ["src/%2E%2e%2fa", "leads out for a tool that decodes"],
  ["src/*", "is many files for a tool that expands"],
  ["src/?", "is many files for a tool that expands"],
  ["src/{a,../../b}", "is many files for a tool that expands"],
  ["src/${HOME}/a", "is another file for a tool that expands"],
  ["src/$HOME/a", "is another file for a tool that expands"],
  ["$HOME/a", "is in a home for a tool that expands"],
  ["src/routes/$id.tsx", "is another file for a tool that expands, although some programs name files so"],
  ["src/$(id)", "runs a command for a tool that expands"],
  ["src/`id`", "runs a command for a tool that expands"],
  ["src/.g`it/config", "is `.git` in PowerShell"],
  ["src/%USERPROFILE%/a", "is another file for a tool of Windows that expands"],
  ["src/!USERPROFILE!/a", "is another file for a tool of Windows that expands"],
  ["src/a;b/c", "is two paths for a tool that takes a list"],
  ["src/a;/x", "ends at the `;` for some servers"],
  ["src/a&b", "ends at the `&` for a shell"],
  ["src/a^b", "loses its `^` on Windows"],
  ["src/a#b", "ends at the `#` for a tool that takes URLs"],
  ["src/C#/a", "ends at the `#` for a tool that takes URLs"],
  ["src/a' '/etc/passwd", "is two paths for a tool that quotes without care"],
  ["src/'a'", "loses its quotes in a shell"],
  ["src/\"a\"", "loses its quotes in a shell"],
  ["src/@(a)", "is a wildcard"],
  ["src/+(a)", "is a wildcard"],
  ["src/!(a)", "is a wildcard, of nearly everything"],
  ["src/[.]git/config", "is `.git` for a tool that expands"],
  ["src/[!a]git/config", "is `.git` for a tool that expands"],
  ["src/[^a]", "is many files for a tool that expands"],
  ["src/[+-0]git", "is `.git` for a tool that expands"],
  ["src/[--a]git", "is `.git` for a tool that expands"],
  ["src/[...]git", "is `.git` for a tool that expands"],
  ["src/[...slug]git", "is `.git` for a tool that expands"],
  ["src/[[:punct:]]git", "is `.git` for a tool that expands"],
  ["src/[a", "is a wildcard that does not end"],
  ["src/a]", "is a wildcard that does not begin"],
  ["-o", "is an option"],
  ["--output=a", "is an option"],
  ["@a", "is a list of arguments for some programs"],
  ["=a", "is a program for a shell"],
  ["src/%u002e%u002e/a", "leads out for a tool that decodes"],
  ["src/%U002E", "leads out for a tool that decodes"],
  ["src/\u2024git/config", "is `.git` where characters are made compatible"],
  ["src/\uff0eenv", "is `.env` where characters are made compatible"],
  ["src/\ufe52env", "is `.env` where characters are made compatible"],
  ["src\u2215a", "has a slash for some conversions of Windows"],
  ["src/a\u2044b", "has a slash for some conversions of Windows"],
  ["src/a\u29f8b", "has a look-alike slash"],
  ["src/a\u2216b", "has a look-alike backslash"],
  ["src/a\u00a5b", "has a backslash in Japanese code pages"],
  ["src/a\u20a9b", "has a backslash in Korean code pages"],
  ["\\\\.\\pipe\\a", "is a device path"],
  ["src/~", "is a home for a tool that joins and expands"],
  ["~root", "is a home"],
  ["src/a\nb", "is two lines"],
  ["src/a|b", "cannot be a file on Windows"],
  ["src/<a>", "cannot be a file on Windows"],
  ["src/.git/hooks/pre-commit", "is hidden"],
  ["src/.env", "is hidden"],
  ["src/a/.ssh/config", "is hidden further down"],
  ["src/.", "is the folder itself"],
  ["", "is nothing"],
  ["/", "is everything"],
  [".", "is here"],
  ["**", "is a glob itself"],
  [`src/${"a/".repeat(3_000)}a`, "is longer than a path can be"]
]

const hostile: Paths = [...elsewhere, ...doubtful]

const harmless: ReadonlyArray<string> = [
  "src/a",
  "src/index.ts",
  "src/ui/Button.test.tsx",
  "src/a b/c d.txt",
  "src/a..b",
  "src/a.b.c",
  "src/pages/[id].tsx",
  "src/pages/[post-id]/[2].tsx",
  "src/pages/[...slug].tsx",
  "src/pages/[[...slug]]/page.tsx",
  "src/(group)/@slot/page.tsx",
  "src/routes/+page.svelte",
  "src/caf\u00e9.ts",
  "src/\uff41\ufb01\u2026b.ts",
  "src/世界/🎉.md",
  "src/100%.md",
  "src/a+b=c,d!.txt",
  "src/it's.md",
  "src/-rf",
  "src/_/__init__.py",
  "src/console.ts",
  "src/com.ts",
  "src/nullable.ts",
  "src/a/b/c/d/e/f/g/h.ts"
]

describe("a person allows `src/**` for the session", () => {
  it("there are enough hostile paths", () => {
    assert.isAtLeast(hostile.length, 20)
    assert.strictEqual(new Set(hostile.map(([path]) => path)).size, hostile.length)
  })

  it.each(hostile.map(([path, reason]) => [path.slice(0, 40), reason, path] as const))(
    "%j does not ride on it: %s",
    (_, _reason, path) => {
      assert.isFalse(src.covers({ path }))
    }
  )

  it("what is doubtful is not covered by the widest glob either", () => {
    assert.deepStrictEqual(covered(below("**"), doubtful.map(([path]) => path)), [])
    const plain = elsewhere.map(([path]) => path)
    assert.deepStrictEqual(covered(below("**"), plain), plain)
  })

  it.each(harmless)("%j is covered", (path) => {
    assert.isTrue(src.covers({ path, content: "anything" }))
  })

  const Segment = Schema.Literals([
    "src",
    "..",
    ".",
    "",
    "a",
    "b.ts",
    ".a",
    "~",
    "C:",
    "a\\..",
    "...",
    "%2e%2e",
    " ",
    "A"
  ])
  it.prop(
    "what is covered is below `src` for whoever normalizes it",
    [Schema.Array(Segment).check(Schema.isMaxLength(6))],
    ([segments]) => {
      for (const path of [segments.join("/"), `src/${segments.join("/")}`, `src\\${segments.join("\\")}`]) {
        if (!src.covers({ path })) continue
        assert.strictEqual(Path.posix.normalize(path), path)
        assert.strictEqual(Path.win32.normalize(path), path.replaceAll("/", "\\"))
        assert.match(Path.posix.relative("/work/src", Path.posix.resolve("/work", path)), /^[^./]/)
      }
    },
    { arbitrary: { runs: 2_000, seed: "path" } }
  )
})

describe("globs", () => {
  const cases: ReadonlyArray<readonly [glob: string, covers: ReadonlyArray<string>, not: ReadonlyArray<string>]> = [
    ["src/*.ts", ["src/a.ts", "src/a.test.ts"], ["src/a.tsx", "src/b/a.ts", "src/.ts", "src/.a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["src/a.js", "src/.b/a.ts", "a.ts"]],
    ["src/?.ts", ["src/a.ts", "src/é.ts"], ["src/ab.ts", "src/.ts"]],
    ["{src,test}/**", ["src/a", "test/b/c"], ["lib/a", "src", "test"]],
    ["src/[a-c]*", ["src/b", "src/car"], ["src/d", "src/B"]],
    ["src/.config/*", ["src/.config/a"], ["src/.other/a", "src/.config/.a"]],
    ["src/.*", ["src/.env"], ["src/env"]],
    ["/srv/data/**", ["/srv/data/a"], ["srv/data/a", "/srv/data", "//srv/data/a", "/srv/data/../a", "/srv/database/a"]],
    ["**", ["a", "a/b"], ["/a", ".a", "a/.b"]],
    ["docs/report\\[1\\].md", ["docs/report[1].md"], ["docs/report1.md"]],
    ["README.md", ["README.md"], ["readme.md", "a/README.md"]]
  ]

  it.each(cases)("%s", (glob, yes, no) => {
    assert.deepStrictEqual(below(glob).problems, [])
    assert.deepStrictEqual(covered(below(glob), yes), yes)
    assert.deepStrictEqual(covered(below(glob), no), [])
  })

  it("any of several is enough", () => {
    const matcher = below("src/**", "docs/*.md")
    assert.isTrue(matcher.covers({ path: "src/a" }))
    assert.isTrue(matcher.covers({ path: "docs/a.md" }))
    assert.isFalse(matcher.covers({ path: "docs/a/b.md" }))
  })

  it.each([
    "",
    "../**",
    "src/../**",
    "./src/**",
    "src//a",
    "src/",
    "//server/**",
    "~/a",
    "!src/**",
    "src/a**",
    "src/{a,**}",
    "cafe\u0301/**",
    "src/\u200b*",
    "src/\n",
    "$HOME/**",
    "C:/Users/**",
    "src/%2e%2e/**",
    "src/@(a|b)",
    "src\\a",
    "src\\.env",
    "a\\",
    ".GIT/**",
    ".g\u0131t/**",
    "src/con/**",
    "-a/**",
    "a".repeat(5_000)
  ])("%j can match no plain path, and says so", (glob) => {
    assert.lengthOf(below(glob, "a").problems, 1)
    assert.lengthOf(below(glob, "a").problemsToForbid, 1)
    assert.isFalse(below(glob).covers({ path: glob }))
    assert.isTrue(below(glob, "a").covers({ path: "a" }))
  })

  it("no glob takes long, whatever the path", () => {
    const matcher = below("**/a*a*a*a*a*a*a*a*b/**/c", `${"**/a/".repeat(50)}b`, `${"{a,b}".repeat(8)}*x`)
    assert.isFalse(matcher.covers({ path: "a".repeat(4_000) }))
    assert.isFalse(matcher.covers({ path: `${"a/".repeat(2_000)}c` }))
    assert.isFalse(matcher.covers({ path: `${"a".repeat(200)}/${"a/".repeat(1_500)}d` }))
  })
})

describe("what stands beside the path", () => {
  it("may be anything, unless a second path is refused by naming what may", () => {
    const copy = { path: "src/a", to: "/etc/passwd" }
    assert.isTrue(src.covers(copy))
    const only = ApprovalMatcher.path(["src/**"], { param: "path", others: ["content", "mode"] })
    assert.isTrue(only.covers({ path: "src/a", content: "x" }))
    assert.isTrue(only.covers({ path: "src/a", to: undefined }))
    assert.isFalse(only.covers(copy))
    assert.isFalse(
      ApprovalMatcher.path(["src/**"], { param: "path", others: [] }).covers({ path: "src/a", content: "x" })
    )
  })

  it("names of prototypes are no parameters", () => {
    for (const param of ["constructor", "__proto__", "toString"]) {
      assert.isFalse(ApprovalMatcher.path(["**"], { param }).covers({}))
      assert.isTrue(ApprovalMatcher.path(["**"], { param }).covers(JSON.parse(`{"${param}":"a"}`)))
    }
  })

  it("a parameter that is computed is none", () => {
    let reads = 0
    const params = {
      get path() {
        return reads++ === 0 ? "src/a" : "/etc/passwd"
      }
    }
    assert.isFalse(src.covers(params))
    assert.isFalse(src.covers({
      path: "src/a",
      get other() {
        return 1
      }
    }))
    assert.strictEqual(reads, 0)
  })
})

describe("symbolic links", () => {
  const isLinkBelow = (root: string) => (path: string) =>
    Fs.lstatSync(Path.resolve(root, path), { throwIfNoEntry: false })?.isSymbolicLink() === true

  it("through or to which a path leads are not covered, wherever they lead", () => {
    const root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-path-"))
    try {
      Fs.mkdirSync(Path.join(root, "src/real"), { recursive: true })
      Fs.writeFileSync(Path.join(root, "src/real/a"), "")
      Fs.symlinkSync("/etc", Path.join(root, "src/out"), "junction")
      Fs.symlinkSync(Path.join(root, "src/real"), Path.join(root, "src/in"), "junction")
      Fs.symlinkSync(Path.join(root, "nowhere"), Path.join(root, "src/real/dangling"), "junction")
      const matcher = ApprovalMatcher.path(["src/**"], { param: "path", isLink: isLinkBelow(root) })
      const yes = ["src/real/a", "src/real", "src/real/new", "src/new/folder/a"]
      const no = ["src/out", "src/out/passwd", "src/in/a", "src/real/dangling", "src/real/dangling/a"]
      assert.deepStrictEqual(covered(matcher, [...yes, ...no]), yes)
      // Text alone cannot know.
      assert.deepStrictEqual(covered(src, no), no)
    } finally {
      Fs.rmSync(root, { recursive: true })
    }
  })

  it("are asked about step by step, and only for paths that match", () => {
    const asked: Array<string> = []
    const isLink = (path: string) => {
      asked.push(path)
      return false
    }
    assert.isTrue(ApprovalMatcher.path(["/srv/**"], { param: "path", isLink }).covers({ path: "/srv/a/b" }))
    assert.isFalse(ApprovalMatcher.path(["/srv/**"], { param: "path", isLink }).covers({ path: "/etc/a" }))
    assert.deepStrictEqual(asked, ["/srv", "/srv/a", "/srv/a/b"])
  })

  it("when nobody can tell, nothing is covered", () => {
    const unsure: ReadonlyArray<(path: string) => boolean> = [
      () => {
        throw new Error("EACCES")
      },
      () => true,
      () => undefined as unknown as boolean,
      () => Promise.resolve(false) as unknown as boolean
    ]
    for (const isLink of unsure) {
      assert.isFalse(ApprovalMatcher.path(["src/**"], { param: "path", isLink }).covers({ path: "src/a" }))
    }
  })
})
