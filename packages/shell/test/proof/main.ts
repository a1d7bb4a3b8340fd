/**
 * The proofs of the tables against the programs of this machine: `npm run proof:shell -- --lines 4000 --seed 7`. It prints
 * how much of each program was tried, and which programs are not here; the first entry that is wrong makes it end with
 * code 1. `--only git` tries the programs and commands whose names begin so. The traces need `strace`; without it, or with
 * `--lines 0`, only the options are tried.
 */
import * as ChildProcess from "node:child_process"
import { parseArgs } from "node:util"
import { programs } from "../../src/internal/programs/all.ts"
import * as Draw from "./draw.ts"
import * as Effects from "./effects.ts"
import * as Folder from "./folder.ts"
import * as Options from "./options.ts"
import * as Versions from "./versions.ts"
import { commands } from "./words.ts"

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "4000" },
    only: { type: "string", default: "" },
    seed: { type: "string", default: "1" }
  }
})
const startedAt = performance.now()
const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`
let wrong = 0
const tell = (...texts: ReadonlyArray<unknown>) => console.log(...texts)
const blame = (...texts: ReadonlyArray<unknown>) => {
  wrong++
  tell("WRONG", ...texts)
}

// What runs anything is known by its name alone, and there is nothing to prove of it.
const found = programs.filter(({ alone, runs }) => runs === undefined || alone !== undefined).map(Versions.find)
const here = new Set(found.filter(({ version }) => version !== undefined).map(({ program }) => program))
const called = commands.filter(({ name, program }) => here.has(program) && name.startsWith(values.only))
for (const { isProved, program, version } of found) {
  if (version === undefined) tell(`${program.program}: not on this machine, so nothing is proved of it`)
  else if (!isProved) {
    tell(`${program.program}: the table names ${program.proved.join(" and ")}, and here is ${version}`)
  }
}

const folder = Folder.make()
try {
  const met = new Set<string>()
  const counts = new Map<string, ReadonlyArray<number>>()
  for (const proof of [Options.alone, Options.followed]) {
    const result = await proof(called, folder)
    for (const { form, ran, words } of result.wrong) {
      blame(`${form.option} of ${form.called.name}: ${words.join(" ")}\n  ${ran.status} ${ran.stderr.split("\n")[0]}`)
    }
    for (const because of result.met) met.add(because)
    for (const { program: { program } } of called) {
      counts.set(program, [
        ...(counts.get(program) ?? []).slice(0, proof === Options.alone ? 0 : 1),
        result.calls.get(program) ?? 0
      ])
    }
  }
  tell("\nOptions in each form: alone, and followed by one that does not exist")
  for (const [program, numbers] of counts) {
    tell(`  ${program.padEnd(12)}${numbers.map((count) => `${count}`.padStart(6)).join("")}`)
  }
  const sum = (index: number) => [...counts.values()].reduce((total, numbers) => total + (numbers[index] ?? 0), 0)
  tell(`  ${"all".padEnd(12)}${`${sum(0)}`.padStart(6)}${`${sum(1)}`.padStart(6)}   ${seconds()}`)
  if (values.only === "" && found.every(({ isProved, program }) => isProved !== false || program.runs !== undefined)) {
    for (const { because, lines } of Options.known) {
      if (!met.has(because)) blame(`no line is as ${lines} says it is known`)
    }
  }

  const lines = Number(values.lines)
  if (ChildProcess.spawnSync("strace", ["-V"]).error !== undefined) {
    tell("\nstrace is not on this machine: no line was traced.")
  } else if (lines > 0) {
    const isTerminal = process.stdout.isTTY
    let done = 0
    // How an interpreter is started is up to this machine: it may be by a script that looks for the version wanted.
    const traced = called.filter(({ isAlone }) => !isAlone)
    const result = await Effects.effects(traced, {
      folder,
      draw: Draw.make(Number(values.seed)),
      lines,
      onProgress: () => {
        if (isTerminal && ++done % 50 === 0) process.stdout.write(`\r  ${done} lines, ${seconds()} `)
      }
    })
    tell(`\nUnder strace, seed ${values.seed}: ${result.lines} lines, ${seconds()}`)
    for (const [says, times] of [...result.besides].toSorted()) tell(`  ${says} (${times})`)
    for (const line of result.endless) blame(`it does not end: ${line.join(" ")}`)
    const wrong = new Map(
      result.wrong.map(({ act, line, name }) => [`${name} ${act.does} ${act.what}`, JSON.stringify(line)])
    )
    for (const [what, line] of wrong) blame(`${what}: ${line}`)
    const count = result.succeeded
    tell(`  ended well: ${[...count].map(([name, times]) => `${name} ${times}`).join(", ")}`)
    for (const [name, times] of count) {
      if (times === 0 && lines >= 10 * traced.length) blame(`no line of ${name} ended well`)
    }
  }
} finally {
  folder.remove()
}
tell(wrong === 0 ? `\nNothing is wrong. ${seconds()}` : `\n${wrong} wrong. ${seconds()}`)
process.exitCode = wrong === 0 ? 0 : 1
