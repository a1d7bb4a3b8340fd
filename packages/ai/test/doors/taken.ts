/** What a package takes from the modules of `effect/ai`, by name, as its source says. */
import { isNode, type Node, readModules } from "../source.ts"

export type Taken = Readonly<Record<string, ReadonlyArray<string>>>

const isIdentifier = (u: unknown): u is { readonly name: string } =>
  typeof u === "object" && u !== null && "name" in u && typeof u.name === "string"

const moduleOf = (specifier: string): string | undefined => /^effect\/ai\/(\w+)$/.exec(specifier)?.[1]

/** The names of every export that is used, as a value or as a type, and of every interface that is extended. */
export const namesTaken = (source: string): Taken => {
  const taken = new Map<string, Set<string>>()
  const take = (module: string, name: string) => {
    const names = taken.get(module) ?? new Set()
    taken.set(module, names.add(name))
  }
  for (const { parsed } of readModules(source)) {
    const namespaces = new Map<string, string>()
    for (const { entries, moduleRequest } of parsed.module.staticImports) {
      const module = moduleOf(moduleRequest.value)
      if (module === undefined) continue
      for (const { importName, localName } of entries) {
        if (importName.kind === "NamespaceObject") namespaces.set(localName.value, module)
        else take(module, importName.name ?? importName.kind)
      }
    }
    const visit = (node: Node, extended: string | undefined): void => {
      const [of, name] = node.type === "MemberExpression"
        ? [node["object"], node["property"]]
        : node.type === "TSQualifiedName"
        ? [node["left"], node["right"]]
        : []
      const module = isIdentifier(of) ? namespaces.get(of.name) : undefined
      if (module !== undefined && isIdentifier(name)) take(module, name.name)
      if (extended !== undefined && node.type === "TSInterfaceDeclaration" && isIdentifier(node["id"])) {
        take(extended, node["id"].name)
      }
      const inner = node.type === "TSModuleDeclaration"
        ? moduleOf(String((node["id"] as { readonly value?: unknown }).value))
        : extended
      for (const value of Object.values(node)) {
        if (Array.isArray(value)) { for (const child of value) if (isNode(child)) visit(child, inner) }
        else if (isNode(value)) visit(value, inner)
      }
    }
    if (namespaces.size > 0) visit(parsed.program as unknown as Node, undefined)
  }
  return Object.fromEntries(
    [...taken].toSorted(([a], [b]) => a < b ? -1 : 1).map(([module, names]) => [module, [...names].toSorted()])
  )
}
