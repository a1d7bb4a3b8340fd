/**
 * Why a command is not covered: of which word, and for what reason.
 */

import { star } from "../line/plain.ts"

/** What kind of thing is not known of the word. */
export type Kind =
  /** The line is not one of plain commands. */
  | "line"
  /** No pattern speaks of the command. */
  | "pattern"
  | "program"
  | "subcommand"
  | "option"
  | "value"
  | "operand"
  /** Something else must stand in the command, too. */
  | "missing"
  /** It writes, and the pattern does not write it out. */
  | "writes"
  /** It heeds settings of a folder, where these may be anybody's. */
  | "settings"
  /** The shell puts other words in its place. */
  | "wildcard"

export interface Refusal {
  readonly kind: Kind
  /** As the program would get it. */
  readonly word: string
  /** A clause without a full stop. */
  readonly why: string
}

export const make = (kind: Kind, word: string, why: string): Refusal => ({ kind, word, why })

/** `--output=/x: not a known option of git log`. */
export const toSentence = ({ why, word }: Refusal): string =>
  `${word === "" ? "''" : word.replaceAll(star, "*")}: ${why}`

/** Refuses, or goes on with what was found. */
export const isRefusal = (found: object): found is Refusal => "why" in found
