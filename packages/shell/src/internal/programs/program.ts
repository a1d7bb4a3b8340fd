/**
 * The form in which it is written down what a program's words can be. What is not written is not known, and a `*` stands
 * only for what is known.
 *
 * Lists are texts with blanks between the entries. Each spelling of an option is an entry of its own: an abbreviation that
 * the program would take is not known, unless it is written.
 */

/** What a word may be. */
export type Kind =
  /** A file or folder below the working folder, and none of secrets. */
  | "path"
  /** What git takes for a commit, a range or a path: as a path, but `main..dev` and `HEAD:a.ts` are such. */
  | "revision"
  /** Anything, because the program only compares or prints it. */
  | "text"
  /** What names of files are compared with: anything but the name of a file of secrets. */
  | "glob"
  /** Digits. */
  | "number"
  /** A script of sed that prints ranges of lines. */
  | "sedScript"
  /** A filter of jq that only selects. */
  | "jqFilter"
  /** A program of awk that prints fields of lines. */
  | "awkProgram"
  /** One of these words. */
  | { readonly oneOf: string }
  /** A text of this form, in which a path may stand. Must take time linear in the text. */
  | { readonly like: RegExp; readonly hasPath?: true }

/** A word that is no option: what it may be, and how often it may stand there. */
export type Operand = readonly [kind: Kind, count: "one" | "at most one" | "any"]

/** Options by what their value is. Several spellings of one kind stand in one list. */
export interface Values {
  readonly [options: string]: Kind
}

/** What a command does beside what it says. The proof under `strace` allows this and nothing else. */
export interface Besides {
  readonly says: string
  /** The words of a program that it starts, with blanks between them. */
  readonly runs?: RegExp
  /** A file that it makes, writes, renames or removes, seen from the working folder. */
  readonly writes?: RegExp
  /** A socket of this machine that it connects to. */
  readonly connects?: RegExp
}

/** What stands in an expression of `find`. */
export interface Tests {
  readonly alone: string
  readonly valued: Values
  /** Those that run a command up to `;` or `+`, with what is found in the place of `{}`. It must only read, and heed nothing. */
  readonly running?: string
}

/** A program, or one of its subcommands. */
export interface Command {
  /** `writes here`: changes files below the working folder. What a pattern does not write out must only read. */
  readonly does: "reads" | "writes here"
  /** What it is in words, for whoever is asked. */
  readonly says: string
  /** Whether no options follow the first operand. */
  readonly optionsFirst?: true
  /** Whether its first word is options even without a dash, so that it must have one: `tar tf` is `tar -tf`. */
  readonly dashFirst?: true
  /** Whether a word that begins with `+` is an option: `tail +1f` does not end. */
  readonly plusOptions?: true
  /** Whether even what begins with `-` is an operand. */
  readonly noOptions?: true
  /** Options without a value. */
  readonly flags?: string
  /** Options with a value: `-n 5`, `-n5`, `--lines 5`, `--lines=5`. */
  readonly values?: Values
  /** Options with a value in the same word, or none: `--color`, `--color=always`, `-U10`. */
  readonly optional?: Values
  /** Whether flags of one letter may stand in one word, the last of them with a value: `-la`, `-rnA3`. */
  readonly clusters?: true
  /** Whether a number may be an option: `-5`. */
  readonly digits?: true
  /** The words that are no options, in their order. */
  readonly operands?: ReadonlyArray<Operand>
  /** With an operand one of these options must be there: `git tag x` makes a tag, `git tag --list x` lists some. */
  readonly operandsNeed?: string
  /** With one of these options the first of the operands falls away: `grep -e x file`. */
  readonly insteadOfFirst?: string
  /** One of these options must be there: `git commit -m x`. */
  readonly needs?: string
  /** An expression of these tests follows the operands, as `find` has it. */
  readonly tests?: Tests
  /**
   * Whether it passes on what comes through a pipe if it is given no file; with one of the options of `unless` it looks
   * for files itself.
   */
  readonly filter?: true | { readonly unless: string }
  /** Whether it opens no file that its words name and tells of none: it needs no pattern beside what is covered. */
  readonly harmless?: true
  /** Settings of the folder that can name programs, which it then runs. */
  readonly heeds?: string
  /** A variable of the environment that can name programs, which it then runs. */
  readonly variable?: string
  /** Whether no option that it has writes or runs anything, so that the shell may put any name in the place of a `*`. */
  readonly tame?: true
  readonly besides?: ReadonlyArray<Besides>
}

/** A program: one command, or one for each of its subcommands, or one that runs what its words do not tell. */
export interface Program {
  readonly program: string
  /** The versions against which it was proved, each on Linux. */
  readonly proved: ReadonlyArray<string>
  /** What it runs, which nothing here can tell: no `*` stands for its words. */
  readonly runs?: string
  /** Flags that may be its only word: `--version`. */
  readonly alone?: string
  /** Flags that may stand before the subcommand. */
  readonly before?: string
  readonly command?: Command
  /** By the subcommand, which may be of two words: `stash list`. */
  readonly commands?: { readonly [subcommand: string]: Command }
}

/** The entries of a list. */
export const entriesOf = (list: string | undefined): ReadonlyArray<string> =>
  list === undefined ? [] : list.split(/\s+/).filter((entry) => entry !== "")

/** Who owns a file is a number, and the system may ask a process of its own for the name. */
export const asksForNames: ReadonlyArray<Besides> = [
  { says: "asks nscd for the names of users", connects: /^\/var\/run\/nscd\/socket$/ }
]
