/**
 * Lets the shells of this machine carry out the attacks, each in an empty folder with a file `x` in it, and says which of
 * them remove it: `node --conditions=@assent/source packages/shell/test/forbidding/confirm.ts`. No test, since it needs
 * GNU's programs; of bash all must, of others those that know the same words.
 */
import * as Process from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as First from "./attacks.ts"
import * as More from "./moreAttacks.ts"

const removes = (shell: string, line: string): boolean => {
  const root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-attack-"))
  const cwd = Path.join(root, "folder")
  Fs.mkdirSync(cwd)
  Fs.writeFileSync(Path.join(cwd, "x"), "x\n")
  const PATH = "/usr/local/bin:/usr/bin:/bin"
  Process.spawnSync("timeout", ["-s", "KILL", "5", shell, "-c", line], {
    cwd,
    env: { PATH, HOME: root, TMPDIR: root },
    input: ""
  })
  const isGone = !Fs.existsSync(Path.join(cwd, "x"))
  Fs.rmSync(root, { recursive: true, force: true })
  return isGone
}

const lines = [...First.attacks, ...More.attacks].flatMap(([, lines]) => lines)
for (const shell of ["bash", "dash", "zsh", "mksh"]) {
  if (Process.spawnSync(shell, ["-c", ":"]).status !== 0) continue
  const others = lines.filter((line) => !removes(shell, line))
  console.log(`${shell}: ${lines.length - others.length} of ${lines.length} remove the file`)
  if (shell === "bash") { for (const line of others) console.log(`  not: ${JSON.stringify(line)}`) }
}
