/**
 * The data of all programs, made ready to be looked up.
 */
import { programs } from "../programs/all.ts"
import { type Command, entriesOf, type Kind, type Program, type Values } from "../programs/program.ts"

/** A command with its lists taken apart. */
export interface Entry {
  readonly command: Command
  readonly flags: ReadonlySet<string>
  readonly values: ReadonlyMap<string, Kind>
  readonly optional: ReadonlyMap<string, Kind>
  readonly needs: ReadonlyArray<string>
  readonly operandsNeed: ReadonlyArray<string>
  readonly insteadOfFirst: ReadonlySet<string>
  readonly testsAlone: ReadonlySet<string>
  readonly testsRunning: ReadonlySet<string>
  readonly testsValued: ReadonlyMap<string, Kind>
  /** Options with which a filter looks for files itself. */
  readonly unless: ReadonlySet<string>
}

export interface Known {
  readonly program: Program
  readonly before: ReadonlySet<string>
  readonly alone: ReadonlySet<string>
  readonly command: Entry | undefined
  readonly commands: ReadonlyMap<string, Entry>
}

const expand = (values: Values | undefined): ReadonlyMap<string, Kind> =>
  new Map(Object.entries(values ?? {}).flatMap(([options, kind]) => entriesOf(options).map((option) => [option, kind])))

const ready = (command: Command): Entry => ({
  command,
  flags: new Set(entriesOf(command.flags)),
  values: expand(command.values),
  optional: expand(command.optional),
  needs: entriesOf(command.needs),
  operandsNeed: entriesOf(command.operandsNeed),
  insteadOfFirst: new Set(entriesOf(command.insteadOfFirst)),
  testsAlone: new Set(entriesOf(command.tests?.alone)),
  testsRunning: new Set(entriesOf(command.tests?.running)),
  testsValued: expand(command.tests?.valued),
  unless: new Set(typeof command.filter === "object" ? entriesOf(command.filter.unless) : [])
})

const table: ReadonlyMap<string, Known> = new Map(programs.map((program) => [program.program, {
  program,
  before: new Set(entriesOf(program.before)),
  alone: new Set(entriesOf(program.alone)),
  command: program.command === undefined ? undefined : ready(program.command),
  commands: new Map(Object.entries(program.commands ?? {}).map(([name, command]) => [name, ready(command)]))
}]))

/** What is known of a program, by the name that it is called by. */
export const find = (program: string): Known | undefined => table.get(program)
