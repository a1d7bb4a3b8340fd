/**
 * Parameters as matchers read them: they may be anything, and reading them may throw.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Canonical from "../seal/canonical.ts"
import type { Others } from "./description.ts"

/** A program's function or a strange value may throw: whoever decides about a call must get an answer (law L1). */
export const total = (covers: (params: unknown) => boolean) => (params: unknown): boolean => {
  try {
    return covers(params) === true
  } catch {
    return false
  }
}

/** The key of a call as canonical JSON; `undefined` if it has none. */
export const keyOf = (
  select: (params: { readonly [name: string]: Schema.Json }) => unknown,
  params: unknown
): string | undefined => {
  const text = Result.getOrUndefined(Canonical.canonicalize(params))
  if (text === undefined || !text.startsWith("{")) return undefined
  try {
    return Result.getOrUndefined(Canonical.canonicalize(select(JSON.parse(text))))
  } catch {
    return undefined
  }
}

/** The text of a parameter, if it and what stands beside it are data that can be trusted to read the same twice. */
export const textOf = (params: unknown, param: string, others: Others): string | undefined => {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return undefined
  const prototype: unknown = Object.getPrototypeOf(params)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return undefined
  const descriptors = Object.getOwnPropertyDescriptors(params)
  for (const name of Object.keys(descriptors)) {
    const descriptor = descriptors[name]!
    if (!("value" in descriptor)) return undefined
    if (name !== param && others !== "any" && !others.includes(name) && descriptor.value !== undefined) return undefined
  }
  const value: unknown = Object.hasOwn(descriptors, param) ? descriptors[param]!.value : undefined
  return typeof value === "string" ? value : undefined
}

/** Whether a call has these parameters, with just these values: each as canonical JSON. */
export const hasSame = (params: unknown, same: ReadonlyMap<string, string>): boolean => {
  for (const [name, value] of same) {
    if (Result.getOrUndefined(Canonical.canonicalize(ownValue(params, name))) !== value) return false
  }
  return true
}

/** Whoever forbids must get an answer too, and what cannot be read may be anything (law L1). */
export const unsure = (mayCover: (params: unknown) => boolean) => (params: unknown): boolean => {
  try {
    return mayCover(params) !== false
  } catch {
    return true
  }
}

/** The text of a parameter, with any other parameters. */
export const anyTextOf = (params: unknown, param: string): string | undefined => {
  const value = ownValue(params, param)
  return typeof value === "string" ? value : undefined
}

/** Whether parameters that have no such text may mean one: they are no plain object, or it is there in another form. */
export const mayHave = (params: unknown, param: string): boolean => {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return true
  const prototype: unknown = Object.getPrototypeOf(params)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return true
  const descriptor = Object.getOwnPropertyDescriptor(params, param)
  return descriptor !== undefined && (!("value" in descriptor) || (descriptor.value ?? undefined) !== undefined)
}

/** One parameter of a call, read once. */
export interface Reading {
  /** Its text, if it and what stands beside it can be trusted; see {@link textOf}. */
  readonly sure: string | undefined
  readonly any: string | undefined
  readonly mayHave: boolean
}

export const read = (params: unknown, param: string, others: Others): Reading => {
  try {
    const any = anyTextOf(params, param)
    return {
      any,
      sure: any === undefined ? undefined : textOf(params, param, others),
      mayHave: any !== undefined || mayHave(params, param)
    }
  } catch {
    return { any: undefined, sure: undefined, mayHave: true }
  }
}

const ownValue = (params: unknown, param: string): unknown =>
  typeof params === "object" && params !== null
    ? Object.getOwnPropertyDescriptor(params, param)?.value
    : undefined
