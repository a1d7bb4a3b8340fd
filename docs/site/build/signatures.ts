/**
 * What an export is, in TypeScript: a value as the compiler declares it, a type as it was written, with the comments on
 * its fields. dprint lays it out for a narrow column.
 */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import ts from "typescript"
import * as Comments from "./comments.ts"
import { generated, root } from "./page.ts"

const nameOf = (statement: ts.Statement): string | undefined =>
  ts.isVariableStatement(statement)
    ? statement.declarationList.declarations[0]?.name.getText()
    : ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)
    ? statement.name?.getText()
    : undefined

/** A class as a reader needs it: what it extends, and its members without what they do. */
const classText = (declaration: ts.ClassDeclaration, text: string): string => {
  const head = text.slice(declaration.getStart(), declaration.members.pos)
  const members = declaration.members.flatMap((member) => {
    const flags = ts.getCombinedModifierFlags(member)
    if (flags & (ts.ModifierFlags.Override | ts.ModifierFlags.Private)) return []
    const body = ts.isMethodDeclaration(member) || ts.isGetAccessor(member) ? member.body : undefined
    return [text.slice(member.getFullStart(), body?.getStart() ?? member.end)]
  })
  return `${head}${members.join("\n")}}`
}

const declared = (text: string): string => `declare ${text.replace(/^(?:export |declare |default )+/, "")}`

/** The signatures of a module, by the names of what it declares; a name that is a value and a type has two. */
const ofModule = (program: ts.Program, file: ts.SourceFile): ReadonlyMap<string, ReadonlyArray<string>> => {
  const signatures = new Map<string, Array<string>>()
  const add = (name: string | undefined, text: string) => {
    if (name !== undefined) signatures.set(name, [...signatures.get(name) ?? [], text])
  }
  for (const statement of file.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      add(statement.name.text, declared(statement.getText()))
    } else if (ts.isClassDeclaration(statement)) {
      add(nameOf(statement), declared(classText(statement, file.text)))
    }
  }
  let emitted = ""
  program.emit(file, (_, text) => (emitted = text), undefined, true)
  for (const statement of ts.createSourceFile(file.fileName, emitted, ts.ScriptTarget.Latest, true).statements) {
    if (ts.isVariableStatement(statement) || ts.isFunctionDeclaration(statement)) {
      add(nameOf(statement), declared(statement.getText()))
    }
  }
  return signatures
}

const lineWidth = 76

const layout = {
  incremental: false,
  lineWidth,
  indentWidth: 2,
  newLineKind: "lf",
  typescript: { semiColons: "asi", quoteStyle: "alwaysDouble", trailingCommas: "never" },
  includes: ["*.ts"],
  plugins: [Path.join(root, "node_modules/@dprint/typescript/plugin.wasm")]
}

/** Lays all of them out in one go, because dprint takes longer to start than to format. */
const format = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const folder = Path.join(generated, "signatures")
  Fs.mkdirSync(folder, { recursive: true })
  const fileOf = (index: number) => Path.join(folder, `${index}.ts`)
  Fs.writeFileSync(Path.join(folder, "dprint.json"), JSON.stringify(layout))
  for (const [index, text] of texts.entries()) Fs.writeFileSync(fileOf(index), text)
  const dprint = Path.join(root, "node_modules/dprint/bin.cjs")
  ChildProcess.execFileSync(process.execPath, [dprint, "fmt"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  return texts.map((_, index) => {
    const text = Fs.readFileSync(fileOf(index), "utf8").trimEnd()
    return Comments.layOut(text.replace(/^declare /gm, "").replace(/\{@link ([^}\s]+)[^}]*\}/g, "`$1`"), lineWidth)
  })
}

/** The signatures of what a file declares under a name. */
export type Signatures = (file: string, name: string) => ReadonlyArray<string>

export const make = (program: ts.Program, files: ReadonlyArray<string>): Signatures => {
  const found = files.flatMap((path) => {
    const file = program.getSourceFile(path)
    if (file === undefined) throw new Error(`the compiler does not know ${path}`)
    return [...ofModule(program, file)].flatMap(([name, texts]) =>
      texts.map((text) => ({ key: `${path} ${name}`, text }))
    )
  })
  const formatted = format(found.map(({ text }) => text))
  const byKey = Map.groupBy(found.map(({ key }, index) => ({ key, text: formatted[index]! })), ({ key }) => key)
  return (file, name) => byKey.get(`${file} ${name}`)?.map(({ text }) => text) ?? []
}
