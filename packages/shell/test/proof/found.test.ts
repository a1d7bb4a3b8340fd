/**
 * Lines that were covered once, or nearly, and do more than the tables say, as the proofs showed. Those of git that is
 * newer than what was proved, of yarn and of cargo are from their documentation.
 */
import { Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"

const patterns = ["*", "git *", "mkdir *", "touch *"]

const wrong: ReadonlyArray<readonly [line: string, because: string]> = [
  ["tree -Iof x package.json", "the value of -I is the next word, so `-o` writes to package.json"],
  ["git log '--format=%G?'", "asks gpg"],
  ["git log '--format=%+G?'", "asks gpg, with a newline before"],
  ["git log '--pretty=%h%-GS'", "asks gpg"],
  ["git log '--format=% GK'", "asks gpg, with a blank before"],
  ["git log '--format=%w(1,1)%G?'", "asks gpg"],
  ["git log --format=mine", "is what the settings say, which may be `%G?`"],
  ["git log --format=onelin", "is `oneline`, or what the settings say"],
  ["git log '--format=%(describe)'", "runs git describe"],
  ["git log '--format=%+(describe:tags)'", "runs git describe"],
  ["git log -L 1,5:../../secret", "leads out of the folder"],
  ["git branch '--format=%(signature)'", "asks gpg, in git that is newer than what was proved"],
  ["git branch --sort=signature", "asks gpg, in git that is newer than what was proved"],
  ["uniq a.txt b.txt", "writes b.txt"],
  ["xxd -r a.hex b.bin", "writes b.bin"],
  ["xxd a.bin b.hex", "writes b.hex"],
  ["tar I ./evil -tf a.tar", "the first word is options without a dash, and runs ./evil"],
  ["tar f host:a.tar -t", "the first word is options without a dash, and connects to another machine"],
  ["tar f ../a.tar -t", "the first word is options without a dash, and reads outside"],
  ["find . -exec uniq {} +", "the second file that is found is written"],
  ["find . -exec xxd {} +", "the second file that is found is written"],
  ["find . -exec fd . + -xdev -exec cat {} \\;", "`+` ends nothing but after `{}`, so fd runs `dev`"],
  ["find . -exec jq {} \\;", "a name that is found is a filter"],
  ["find . -name .env -exec cat {} +", "reads secrets that are looked for by their name"],
  ["rg -g .env KEY", "reads secrets that are looked for by their name"],
  ["rg -g '*.pem' KEY", "reads secrets that are looked for by their name"],
  ["grep -r --include=.env KEY .", "reads secrets that are looked for by their name"],
  ["cat id_*", "the shell finds id_rsa"],
  ["git log -L 1,5:.env", "reads what was secret"],
  ["git log -p -- ':(top).env'", "reads what was secret"],
  ["git diff -- '.env*'", "reads what was secret"],
  ["tail +1f a.txt", "does not end"],
  ["tail +f a.txt", "does not end"],
  ["jq '.[env:1]' a.json", "is no key, but reads the environment"],
  ["awk '/[/ \"]/{print > \"1\"}#\"' a.txt", "a slash in brackets does not end the expression, and 1 is written"],
  ["awk '/[^]/ \"]/{print > \"1\"}#\"' a.txt", "a bracket that comes first does not end the brackets"],
  ["cd .git && mkdir hooks", "makes a folder of the repository"],
  ["cd .git/hooks && touch pre-commit", "makes a file of the repository"],
  ["sleep 99999999h", "is as good as no end"],
  ["yarn --version", "runs what .yarnrc.yml names"],
  ["cargo --version", "runs what rust-toolchain.toml names"]
]

const right = [
  "tree -L 2 -I node_modules",
  "git log --format=oneline",
  "git log '--format=%h %s'",
  "git log '--format=format:%an <%ae>'",
  "git show --format= --stat",
  "git log -L 1,5:src/a.ts",
  "git branch '--format=%(refname:short) %(upstream:track)' --sort=-committerdate",
  "uniq a.txt",
  "xxd a.bin",
  "tar -tzf a.tgz",
  "find . -name '*.ts' -exec cat {} +",
  "find . -type f -exec head -n 5 {} \\;",
  "find . -name .env",
  "find . -not -name .env -exec cat {} +",
  "rg -g '!.env' KEY",
  "grep -r --include='*.ts' KEY .",
  "git log -L 1,5:.gitignore",
  "git diff -- ':(exclude)package-lock.json'",
  "git log ':/fix'",
  "awk -F: '/[[:space:]a-z]+[ \\t]/ {print $1}' a.txt",
  "cd src && mkdir parts",
  "sleep 30",
  "jq '{env: .a, b: [.c[1:2]]}' a.json",
  "tail -n +5 a.txt",
  "npm --version"
]

describe("what the proofs found", () => {
  it.each(wrong)("%s: %s", (line) => {
    assert.isFalse(Shell.explain(line, patterns).covered)
  })

  it.each(right)("%s is covered beside it", (line) => {
    assert.deepStrictEqual(Shell.explain(line, patterns).refusals, [])
  })
})
