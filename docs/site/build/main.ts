/** Writes the pages, has Astro make the site of them, and puts their Markdown beside them. */
import { build } from "astro"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Accessible from "./accessible.ts"
import * as Links from "./links.ts"
import * as Llms from "./llms.ts"
import { addressOf, base, dist, generated, markdownOf, origin, repository } from "./page.ts"
import * as Prose from "./prose.ts"
import * as Reference from "./reference.ts"
import * as Written from "./written.ts"

const site = Path.join(import.meta.dirname, "..")

const began = performance.now()
const say = (what: string): void =>
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${what}`)

const writePage = (name: string, text: string, about: Readonly<Record<string, unknown>>): void => {
  const file = Path.join(generated, "pages", `${name}.md`)
  const fields = Object.entries(about).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  Fs.mkdirSync(Path.dirname(file), { recursive: true })
  Fs.writeFileSync(file, `---\n${fields.join("\n")}\n---\n\n${text}\n`)
}

// What Astro keeps of pages names styles that a change of its configuration does away with.
for (const old of [generated, dist, Path.join(site, "node_modules/.astro")]) {
  Fs.rmSync(old, { recursive: true, force: true })
}
say("Reading doc comments …")
const all = [...Written.pages, ...await Reference.pages()]
const pages = all.map((page) => ({ ...page, text: Prose.onSite(page, all) }))
say(`Writing ${pages.length} pages …`)
for (const { description, slug, source, text, title } of pages) {
  const name = slug === "" ? "index" : slug
  writePage(name, Prose.drawn(text), {
    title,
    description,
    slug: name,
    editUrl: `${repository}/edit/main/${source}`,
    // Where programs look for the text of a page.
    head: [{
      tag: "link",
      attrs: { rel: "alternate", type: "text/markdown", href: `${origin}${base}/${markdownOf(slug)}` }
    }]
  })
}
writePage("404", Written.notFound.text, {
  title: Written.notFound.title,
  editUrl: false,
  pagefind: false,
  tableOfContents: false
})
Fs.mkdirSync(Path.join(generated, "public"), { recursive: true })
Fs.copyFileSync(Path.join(site, "src/favicon.svg"), Path.join(generated, "public/favicon.svg"))
Fs.writeFileSync(
  Path.join(generated, "sidebar.json"),
  JSON.stringify([Written.start, ...Written.sidebar, Reference.sidebar, Written.last])
)
say("Building the site, and its index for searching …")
// It warns of translations and of a page for what is not found, of which it has its own.
await build({ root: site, logLevel: "error" })
Accessible.improve(Links.files())
Llms.writeAll(pages)
const broken = Links.broken()
if (broken.length > 0) {
  console.error(`${broken.length} links lead nowhere:\n${broken.join("\n")}`)
  process.exit(1)
}
say(`The site is in ${Path.relative(process.cwd(), Path.join(site, "dist"))}. It begins at ${addressOf("")}.`)
