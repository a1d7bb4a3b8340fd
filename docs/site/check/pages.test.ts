/** The built site as files: what every page has, where its links lead, and what programs that read find. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "vitest"
import * as Extract from "../../../packages/ai/test/examples/extract.ts"
import { readModules } from "../../../packages/ai/test/source.ts"
import * as Links from "../build/links.ts"
import { addressOf, base, dist, markdownOf, origin, root } from "../build/page.ts"

const read = (file: string): string => Fs.readFileSync(Path.join(dist, file), "utf8")
const pages = Links.files().filter((file) => file.endsWith(".html") && file !== "404.html")
const slugOf = (page: string): string => page.replace(/\/?index\.html$/, "")

/** The folder and its files are what the site is to be made of, whatever made it. */
const sources = (folder: string, pattern: RegExp): ReadonlyArray<string> =>
  Fs.readdirSync(Path.join(root, folder)).filter((file) => pattern.test(file))

const packages = sources("packages", /^/).filter((name) =>
  JSON.parse(Fs.readFileSync(Path.join(root, "packages", name, "package.json"), "utf8")).private !== true
)

describe("pages", () => {
  it("every guide, package and public module has one", () => {
    const guides = sources("docs", /^(?!README).*\.md$/).map((file) => `guides/${file.replace(/\.md$/, "")}`)
    const modules = packages.flatMap((name) =>
      sources(`packages/${name}/src`, /^(?!index).*\.ts$/).map((file) =>
        `reference/${name}/${file.replace(/\.ts$/, "")}`
      )
    )
    const expected = ["", "guides", ...guides, ...packages.map((name) => `packages/${name}`), ...modules]
    assert.isAbove(guides.length * packages.length * modules.length, 0)
    assert.includeMembers(pages.map(slugOf), expected.map((slug) => slug.toLowerCase()))
  })

  it("each has a title, and no two have the same address", () => {
    const titles = pages.map((page) => /<title>(.+) \| Assent<\/title>/.exec(read(page))?.[1])
    assert.notInclude(titles, undefined)
    for (const page of pages) assert.lengthOf([...read(page).matchAll(/<h1[ >]/g)], 1, page)
  })

  it("every link leads somewhere", () => {
    assert.deepStrictEqual(Links.broken(), [])
  })

  it("a law that is named leads to its section, on a written page and in doc comments", () => {
    const law = (anchor: string) => `href="${addressOf("guides/the-laws")}#${anchor}"`
    assert.include(read("contributing/index.html"), law("l1-nothing-runs-without-consent"))
    assert.include(read("reference/ai/approvalseal/index.html"), law("l4-no-forgery"))
  })

  it("every example of a public module is there, and says what it gives", () => {
    const all = read("llms-full.txt")
    const examples = packages.flatMap((name) => readModules(Path.join(root, "packages", name, "src")))
      .filter(({ name }) => !name.startsWith("internal/") && Path.basename(name) !== "index")
      .flatMap(Extract.examples)
    assert.isAbove(examples.filter(({ code }) => code.includes("// => ")).length, 100)
    assert.deepStrictEqual(examples.filter(({ code }) => !all.includes(`\n\`\`\`ts\n${code.trim()}\n\`\`\`\n`)), [])
  })

  it("an export has its signature, with the comments on its fields", () => {
    const page = read("reference/ai/tool.md")
    assert.include(page, "### make")
    assert.match(page, /^ {2}readonly needsApproval\?:/m)
  })

  it("an export that is another name of what nobody can import shows that", () => {
    assert.match(read("reference/shell/approvalimport.md"), /^interface Imported \{\n {2}readonly config:/m)
    assert.notMatch(read("llms-full.txt"), /^```ts\n\s*```$/m)
  })

  it("every export leads to the line where it is declared", () => {
    const links = pages.filter((page) => page.startsWith("reference/")).flatMap((page) =>
      read(markdownOf(slugOf(page))).split(/^### /m).slice(1).map((text) => ({
        name: /^.*/.exec(text)![0],
        link: /^\[Source\]\(\S+?\/blob\/main\/(packages\/\S+)#L(\d+)\)/m.exec(text)
      }))
    )
    const lines = (file: string) => Fs.readFileSync(Path.join(root, file), "utf8").split("\n")
    assert.isAbove(links.length, 300)
    assert.deepStrictEqual(
      links.filter(({ link, name }) => link === null || !lines(link[1]!)[Number(link[2]) - 1]!.includes(name)),
      []
    )
  })

  it("nothing that was meant as text has become a tag, and nothing is cut away", () => {
    for (const page of pages) assert.notMatch(read(page), /\[object Object\]|<undefined|\{@link/, page)
  })
})

describe("for programs that read", () => {
  it("llms.txt lists every page, and each has its Markdown beside it", () => {
    const list = read("llms.txt")
    for (const page of pages) {
      const file = markdownOf(slugOf(page))
      assert.include(list, `](${origin}${base}/${file})`)
      assert.match(read(file), /^# \S/)
      assert.notMatch(read(file), /(?:\]\(|^\[[^\]\n]+\]: )\//m, `a link of ${file} leads from the site alone`)
    }
    assert.notMatch(list, /^- \[.*\)(?:: .{0,19}|.*[^.?!\n])$/m, "each says what it is about, in sentences")
    assert.lengthOf([...list.matchAll(/^- \[/gm)], pages.length)
  })

  it("llms-full.txt has the text of every page", () => {
    const full = read("llms-full.txt")
    for (const page of pages) assert.include(full, read(markdownOf(slugOf(page))).trim())
  })
})
