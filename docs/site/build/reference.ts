/** The reference: a page for each public module, made of its doc comments by TypeDoc. */
import GithubSlugger from "github-slugger"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as TypeDoc from "typedoc"
import ts from "typescript"
import * as Mentions from "./mentions.ts"
import { addressOf, type Group, type Page, read, repository, root } from "./page.ts"
import * as Prose from "./prose.ts"
import * as Signatures from "./signatures.ts"
import { packages } from "./written.ts"

interface Module {
  readonly package: string
  /** Within the package: `Tool`, `testing/ScriptedModel`. */
  readonly path: string
  readonly file: string
}

const slugOf = (module: Module): string => `reference/${module.package}/${module.path}`.toLowerCase()

const modulesIn = (name: string, folder: string): ReadonlyArray<Module> =>
  Fs.readdirSync(Path.join(root, "packages", name, "src", folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && entry.name !== "index.ts")
    .map((entry) => Path.posix.join(folder, entry.name.replace(/\.ts$/, "")))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => ({ package: name, path, file: Path.join(root, "packages", name, "src", `${path}.ts`) }))

const hasTools = (name: string): boolean => Fs.existsSync(Path.join(root, "packages", name, "src/testing"))

const modules = packages.flatMap((
  name
) => [...modulesIn(name, ""), ...hasTools(name) ? modulesIn(name, "testing") : []])

/** How a program imports it. */
const importOf = ({ package: name, path }: Module): string => {
  const folder = Path.posix.dirname(path)
  const own = Path.posix.basename(path)
  const specifier = folder === "." ? `@assent/${name}` : `@assent/${name}/${folder}`
  const index = read(Path.posix.join("packages", name, "src", folder, "index.ts"))
  const names = new RegExp(String.raw`^export \{ (.+) \} from "\./${own}\.ts"$`, "m").exec(index)?.[1]
  const fromIndex = index.includes(`export * as ${own} `) || new RegExp(String.raw`^  ${own},?$`, "m").test(index)
  return names !== undefined
    ? `import { ${names} } from "${specifier}"`
    : fromIndex
    ? `import { ${own} } from "${specifier}"`
    : `import * as ${own} from "@assent/${name}/${path}"`
}

/**
 * TypeDoc takes the comment at the head of a file for the module's own only if it says so. Ours stand there always, so the
 * compiler is told that they say so, on a line of theirs that is empty.
 */
const readMarked = (files: ReadonlySet<string>) => {
  const readFile = ts.sys.readFile
  ts.sys.readFile = (path, encoding) => {
    const text = readFile(path, encoding)
    return text !== undefined && files.has(Path.normalize(path))
      ? text.replace(/^(\/\*\*[^]*?\n \*)(\n \* @since)/, "$1 @module$2")
      : text
  }
}

const convert = async () => {
  readMarked(new Set(modules.map(({ file }) => file)))
  const app = await TypeDoc.Application.bootstrap({
    entryPoints: modules.map(({ file }) => file),
    tsconfig: Path.join(import.meta.dirname, "../tsconfig.sources.json"),
    // `npm run check` has found them already, with the compiler that the sources are written for.
    skipErrorChecking: true,
    // Or it tells the compiler to write nothing, and then the compiler declares nothing either.
    emit: "both",
    excludeExternals: true,
    excludeInternal: true,
    excludePrivate: true,
    readme: "none",
    sort: ["source-order"],
    logLevel: "Warn",
    treatValidationWarningsAsErrors: true,
    validation: { invalidLink: true, notExported: false, notDocumented: false, rewrittenLink: false }
  })
  const points = app.getEntryPoints()
  if (points === undefined) throw new Error("TypeDoc found no modules")
  const project = app.converter.convert(points)
  app.validate(project)
  if (app.logger.hasErrors()) throw new Error("The doc comments have errors, which stand above.")
  return { project, program: points[0]!.program }
}

/** What a module exports under one name: a value, a type, or both. */
interface Export {
  readonly name: string
  readonly category: string
  readonly anchor: string
  readonly reflections: ReadonlyArray<TypeDoc.DeclarationReflection>
}

interface Layout {
  readonly module: Module
  readonly reflection: TypeDoc.DeclarationReflection
  /** By categories, in the order in which the module's file has them. */
  readonly categories: ReadonlyArray<readonly [title: string, exports: ReadonlyArray<Export>]>
}

const commentOf = (reflection: TypeDoc.DeclarationReflection): TypeDoc.Comment | undefined =>
  reflection.comment ?? reflection.signatures?.[0]?.comment ??
    (reflection.type instanceof TypeDoc.ReflectionType
      ? reflection.type.declaration.signatures?.[0]?.comment
      : undefined)

const plain = (parts: ReadonlyArray<TypeDoc.CommentDisplayPart>): string =>
  parts.map(({ text }) => text).join("").trim()

const tagOf = (reflection: TypeDoc.DeclarationReflection, name: `@${string}`): string | undefined => {
  const tag = commentOf(reflection)?.blockTags.find(({ tag }) => tag === name)
  return tag === undefined ? undefined : plain(tag.content)
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Upstream's interfaces, to which we add fields, are upstream's all the same. */
const isUpstreams = ({ sources = [] }: TypeDoc.DeclarationReflection): boolean =>
  sources.some(({ fullFileName }) => fullFileName.includes("/node_modules/"))

const layOut = (module: Module, reflection: TypeDoc.DeclarationReflection): Layout => {
  const exported = (reflection.children ?? []).filter((child) =>
    child.kind !== TypeDoc.ReflectionKind.Reference && !isUpstreams(child)
  )
  const byName = Map.groupBy(exported, ({ name }) => name)
  const categoryOf = (reflections: ReadonlyArray<TypeDoc.DeclarationReflection>) =>
    reflections.map((reflection) => tagOf(reflection, "@category")).find((category) => category !== undefined) ??
      "others"
  const byCategory = Map.groupBy(byName, ([, reflections]) => categoryOf(reflections))
  const slugger = new GithubSlugger()
  return {
    module,
    reflection,
    categories: [...byCategory].map(([category, names]) => {
      slugger.slug(capital(category))
      const exports = names.map(([name, reflections]) => ({ name, category, anchor: slugger.slug(name), reflections }))
      return [capital(category), exports] as const
    })
  }
}

const addressIn = (layouts: ReadonlyArray<Layout>): Mentions.Address => {
  const addresses = new Map<TypeDoc.Reflection, string>()
  for (const { categories, module, reflection } of layouts) {
    addresses.set(reflection, addressOf(slugOf(module)))
    for (const { anchor, reflections } of categories.flatMap(([, exports]) => exports)) {
      for (const own of reflections) addresses.set(own, `${addressOf(slugOf(module))}#${anchor}`)
    }
  }
  return (reflection) => {
    let at: TypeDoc.Reflection | undefined = reflection
    while (at !== undefined && !addresses.has(at)) at = at.parent
    return at === undefined ? undefined : addresses.get(at)
  }
}

/** The words of a comment are Markdown already, but what looks like HTML in them is not meant as that. */
const markdown = (parts: ReadonlyArray<TypeDoc.CommentDisplayPart>, address: Mentions.Address): string =>
  parts.map((part) => {
    switch (part.kind) {
      case "text":
        return part.text.replaceAll("<", "&lt;").replaceAll(/\{\{/g, "&#123;&#123;")
      case "inline-tag": {
        const target = part.target instanceof TypeDoc.Reflection ? address(part.target) : undefined
        return target === undefined ? `\`${part.text}\`` : `[\`${part.text}\`](${target})`
      }
      default:
        return part.text
    }
  }).join("").trim()

const fenced = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``

const codeOf = (parts: ReadonlyArray<TypeDoc.CommentDisplayPart>): string =>
  plain(parts).replace(/^```\w*\n([^]*)\n```$/, "$1")

const examplesOf = ({ blockTags }: TypeDoc.Comment): ReadonlyArray<string> =>
  blockTags.filter(({ tag }) => tag === "@example").map(({ content }) => fenced(codeOf(content)))

const isBeginning = (text: string, of: string): boolean => of.startsWith(text.replace(/\.$/, ""))

/** The names of modules in a signature that a reader would not find under them. */
const renamed = (source: string, signature: string): ReadonlyArray<string> =>
  [...source.matchAll(/^import (?:type )?\* as (\w+) from "([\w@][^"]*)"$/gm)].flatMap((
    [, name = "", specifier = ""]
  ) =>
    Path.posix.basename(specifier) !== name && new RegExp(String.raw`\b${name}\.`).test(signature)
      ? [`\`${name}\` is \`${specifier}\``]
      : []
  )

/** What the exports of a page are written with. */
interface Writing {
  /** The page's exports, by their names, and where each stands. */
  readonly exports: ReadonlyMap<string, string>
  readonly address: Mentions.Address
  readonly signatures: Signatures.Signatures
  /** The types that nobody can import, and where the page shows each. */
  readonly shown: Map<string, string>
}

const keyOf = ({ file, name }: Mentions.Hidden): string => `${file} ${name}`

const writingOf = ({ categories }: Layout, address: Mentions.Address, signatures: Signatures.Signatures): Writing => {
  const all = categories.flatMap(([, exports]) => exports)
  const placeOf = (own: Export): string => address(own.reflections[0]!)!
  return {
    address,
    signatures,
    exports: new Map(all.map((own) => [own.name, placeOf(own)])),
    // What an export is another name of stands there.
    shown: new Map(
      all.flatMap((own) =>
        Mentions.of(own.reflections, address).hidden.filter(({ name }) => name === own.name)
          .map((hidden) => [keyOf(hidden), placeOf(own)])
      )
    )
  }
}

const wordsOf = (code: string): ReadonlyArray<string> => code.replace(/\/\*[^]*?\*\//g, "").match(/\b[A-Z]\w*/g) ?? []

const isAliasOf = (name: string, text: string): boolean =>
  new RegExp(String.raw`^type ${name}\b[^=]*= \w+\.${name}\b(?:<[^>]*>)?$`).test(text)

/** Its own signature, those of the types in it that nobody can import, and what else is to be said of its types. */
const signatureOf = (own: Export, { address, exports, shown, signatures }: Writing) => {
  const { fileName = "", fullFileName = "" } = own.reflections[0]?.sources?.[0] ?? {}
  const declared = signatures(Path.normalize(fullFileName), own.name)
  if (declared.length === 0) throw new Error(`no signature was found of ${own.name} in ${fileName}`)
  const { exported, hidden } = Mentions.of(own.reflections, address)
  const home = exports.get(own.name)!
  const links = new Map(exported)
  const beside: Array<string> = []
  for (const type of hidden) {
    const place = shown.get(keyOf(type)) ?? home
    shown.set(keyOf(type), place)
    if (place === home) beside.push(...signatures(type.file, type.name))
    else links.set(`${place} ${type.name}`, type.name)
  }
  for (const word of beside.flatMap(wordsOf)) {
    const place = exports.get(word)
    if (place !== undefined && place !== home) links.set(place, word)
  }
  const named = hidden.some(({ name }) => name === own.name)
    ? declared.filter((text) => !isAliasOf(own.name, text))
    : declared
  const text = [...named, ...beside].join("\n\n")
  return {
    text,
    types: [
      ...[...links].map(([place, name]) => `[\`${name}\`](${place.replace(/ .*/, "")})`),
      ...renamed(Fs.readFileSync(fullFileName, "utf8"), text)
    ]
  }
}

const exportText = (own: Export, writing: Writing): string => {
  const [first] = own.reflections
  const source = first?.sources?.[0]
  const comments = own.reflections.flatMap((reflection) => commentOf(reflection) ?? [])
  const summaries = [...new Set(comments.map(({ summary }) => markdown(summary, writing.address)))]
  const examples = comments.flatMap(examplesOf)
  const { text, types } = signatureOf(own, writing)
  const since = tagOf(first!, "@since")
  return [
    `### ${own.name}`,
    // A name that is a type and a value is often told of twice, once in fewer words.
    ...summaries.filter((summary) => !summaries.some((other) => other !== summary && isBeginning(summary, other))),
    ...new Set(examples),
    "**Signature**",
    fenced(text),
    ...types.length === 0 ? [] : [`Types: ${types.join(", ")}.`],
    `[Source](${repository}/blob/main/${source?.fileName}#L${source?.line})${
      since === undefined ? "" : `, since ${since}`
    }`
  ].join("\n\n")
}

/** What a module exports that other pages tell of: those of modules of ours, and Effect's documentation. */
const alsoFrom = (module: Module, hasOwn: boolean): ReadonlyArray<string> => {
  const text = Fs.readFileSync(module.file, "utf8")
  return [...text.matchAll(/^export \* from "([^"]+)"$/gm)].flatMap(([, specifier = ""]) => {
    const own = modules.find(({ file, package: name, path }) =>
      specifier === `@assent/${name}/${path}` || file === Path.join(Path.dirname(module.file), specifier)
    )
    if (own === undefined && specifier.startsWith(".")) return []
    const there = own === undefined
      ? `\`${specifier}\``
      : `[\`${own.path}\` of \`@assent/${own.package}\`](${addressOf(slugOf(own))})`
    return hasOwn
      ? `What ${there} exports is here too, the same objects; this page has what is ${
        own === undefined ? "Assent's own" : "this module's own"
      }.`
      : `It exports what ${there} exports, the same objects.`
  })
}

const pageOf = (layout: Layout, address: Mentions.Address, signatures: Signatures.Signatures): Page => {
  const writing = writingOf(layout, address, signatures)
  const { categories, module, reflection } = layout
  const source = `packages/${module.package}/src/${module.path}.ts`
  const summary = markdown(reflection.comment?.summary ?? [], address)
  if (summary === "") throw new Error(`${source} does not begin with a comment that says what it is for`)
  return {
    slug: slugOf(module),
    source,
    title: Path.posix.basename(module.path),
    description: Prose.summary(summary),
    text: [
      fenced(importOf(module)),
      summary,
      ...reflection.comment === undefined ? [] : examplesOf(reflection.comment),
      ...alsoFrom(module, categories.length > 0),
      ...categories.flatMap(([title, exports]) => [
        `## ${title}`,
        ...exports.map((own) => exportText(own, writing))
      ])
    ].join("\n\n")
  }
}

const item = (module: Module) => ({ label: Path.posix.basename(module.path), slug: slugOf(module) })

const groupOf = (name: string): Group => {
  const [testing, own] = [true, false].map((isTool) =>
    modules.filter((module) => module.package === name && isTool === module.path.startsWith("testing/")).map(item)
  )
  return {
    label: `@assent/${name}`,
    collapsed: true,
    items: [...own!, ...testing!.length === 0 ? [] : [{ label: "testing", items: testing! }]]
  }
}

export const sidebar: Group = { label: "Reference", items: packages.map(groupOf) }

export const pages = async (): Promise<ReadonlyArray<Page>> => {
  const { program, project } = await convert()
  const layouts = modules.map((module) => {
    const isOwn = (reflection: TypeDoc.DeclarationReflection) =>
      Path.normalize(reflection.sources?.[0]?.fullFileName ?? "") === module.file
    const reflection = project.children?.find(isOwn)
    if (reflection === undefined) throw new Error(`TypeDoc does not know ${module.file}`)
    return layOut(module, reflection)
  })
  const address = addressIn(layouts)
  const files = layouts.flatMap(({ categories }) => categories).flatMap(([, exports]) => exports)
    .flatMap(({ reflections }) => [
      ...reflections.map(({ sources }) => sources?.[0]?.fullFileName ?? ""),
      ...Mentions.of(reflections, address).hidden.map(({ file }) => file)
    ])
  const signatures = Signatures.make(program, [...new Set(files.map(Path.normalize))])
  return layouts.map((layout) => pageOf(layout, address, signatures))
}
