/** What a plan is about: each holds more of something than others do, so that what is rare is met in combination too. */

/** How often a plan of a theme holds each thing. */
export interface Theme {
  readonly objects: number
  readonly shared: number
  readonly tampering: number
  readonly policies: number
  readonly changes: number
  readonly crowds: number
  readonly messages: number
  /** Calls that the provider runs itself. */
  readonly hosted: number
  /** A store that does not work. */
  readonly storage: number
  /** Runs that are stopped. */
  readonly stops: number
  /** Answers between two turns. */
  readonly answers: number
  /** Tools that wait. */
  readonly waits: number
  /** Guarded toolkits. */
  readonly guards: number
  /** Handlers that have a model of their own. */
  readonly nests: number
  /** Answers that are remembered. */
  readonly remembers: number
}

const ordinary: Theme = {
  objects: 1,
  shared: 1,
  tampering: 3,
  policies: 2,
  changes: 1,
  crowds: 1,
  messages: 1,
  hosted: 0,
  storage: 0,
  stops: 0,
  answers: 1,
  waits: 0,
  guards: 0,
  nests: 0,
  remembers: 0
}

export const themes: ReadonlyArray<readonly [weight: number, theme: Theme]> = [
  [2, { ...ordinary, objects: 3, storage: 2 }],
  [5, { ...ordinary, objects: 24, policies: 4, answers: 3 }],
  [1, { ...ordinary, shared: 8, answers: 4 }],
  [2, { ...ordinary, tampering: 16 }],
  [6, { ...ordinary, policies: 10, answers: 3, tampering: 1 }],
  [6, { ...ordinary, changes: 12, answers: 4, tampering: 1 }],
  [2, { ...ordinary, crowds: 5, storage: 3 }],
  [2, { ...ordinary, messages: 8, shared: 24, tampering: 1 }],
  [4, { ...ordinary, hosted: 10, policies: 3, answers: 2, tampering: 1 }],
  [1, { ...ordinary, hosted: 5, tampering: 6, messages: 2 }],
  [6, { ...ordinary, storage: 16, policies: 3, tampering: 1 }],
  [3, { ...ordinary, storage: 12, crowds: 4, hosted: 2 }],
  [2, { ...ordinary, stops: 6, crowds: 2, storage: 2, tampering: 1 }],
  [2, { ...ordinary, answers: 10, hosted: 5 }],
  [3, { ...ordinary, waits: 8, answers: 3, tampering: 1 }],
  [2, { ...ordinary, waits: 8, crowds: 4, storage: 2, policies: 3, changes: 3 }],
  [1, { ...ordinary, guards: 8, policies: 6 }],
  [2, { ...ordinary, nests: 8, policies: 4, crowds: 3, storage: 1 }],
  [4, { ...ordinary, remembers: 8, crowds: 2, tampering: 1 }],
  [1, { ...ordinary, waits: 8, storage: 2, answers: 2 }],
  [1, { ...ordinary, remembers: 8, storage: 2 }]
]
