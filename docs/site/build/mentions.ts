/** The types of ours that an export speaks of. */
import * as TypeDoc from "typedoc"
import { root } from "./page.ts"

/** Where a declaration stands on the site: the export it is, or is a part of. */
export type Address = (reflection: TypeDoc.Reflection) => string | undefined

/** A type of ours that nobody can import. */
export interface Hidden {
  readonly file: string
  readonly name: string
}

export interface Mentions {
  /** Other exports, by where they stand. */
  readonly exported: ReadonlyMap<string, string>
  readonly hidden: ReadonlyArray<Hidden>
}

export const of = (own: ReadonlyArray<TypeDoc.DeclarationReflection>, address: Address): Mentions => {
  const exported = new Map<string, string>()
  const hidden = new Map<string, Hidden>()
  const home = address(own[0]!)
  const visitor = TypeDoc.makeRecursiveVisitor({
    reference: ({ name, reflection, refersToTypeParameter, symbolId }) => {
      const target = reflection === undefined ? undefined : address(reflection)
      if (target !== undefined && target !== home && target.includes("#")) {
        exported.set(target, reflection?.name ?? name)
      }
      const file: string = symbolId?.fileName ?? ""
      if (reflection === undefined && !refersToTypeParameter && file.startsWith(`${root}/packages/`)) {
        hidden.set(`${file} ${name}`, { file, name: symbolId?.qualifiedName ?? name })
      }
    },
    reflection: ({ declaration }) => see(declaration)
  })
  const see = (reflection: TypeDoc.DeclarationReflection) => {
    reflection.type?.visit(visitor)
    for (const signature of reflection.getAllSignatures()) {
      signature.type?.visit(visitor)
      for (const parameter of signature.parameters ?? []) parameter.type?.visit(visitor)
      for (const parameter of signature.typeParameters ?? []) parameter.type?.visit(visitor)
    }
    for (const type of reflection.extendedTypes ?? []) type.visit(visitor)
    for (const child of reflection.children ?? []) {
      if (child.inheritedFrom === undefined) see(child)
    }
  }
  for (const reflection of own) see(reflection)
  return { exported, hidden: [...hidden.values()] }
}
