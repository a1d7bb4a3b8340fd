/** The rules of what a `*` stands for, each as a table: what is known, and what is not and why. */
import { Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"

type Rows = ReadonlyArray<readonly [patterns: string, line: string, message?: string]>

const unreadable = (line: string): string =>
  `${line}: this is more than plain commands, quoted words, pipes, \`&&\`, \`||\` and \`;\`, so it cannot be told what it does`

/** Patterns with commas between them; a row without a message is covered. */
const rules: { readonly [rule: string]: Rows } = {
  "options are known in full spelling": [
    ["git *", "git branch --show-current"],
    ["git *", "git branch --show-curren", "--show-curren: this option is not known of git branch"],
    ["git *", "git log --output=/x", "--output=/x: this option is not known of git log"],
    ["git *", "git log --output /x", "--output: this option is not known of git log"],
    ["git *", "git grep -1O'touch P;' x", "-1Otouch P;: this option is not known of git grep"],
    ["git *", "git grep -nO x", "-nO: this option is not known of git grep"],
    ["git *", "git -p log", "-p: this option is not known before a subcommand of git"],
    ["git *", "git -c a=b log", "-c: this option is not known before a subcommand of git"],
    ["sort *", "sort --compress-prog=x a", "--compress-prog=x: this option is not known of sort"],
    ["sort *", "sort -o a a", "-o: this option is not known of sort"],
    ["rg *", "rg --pre=x a", "--pre=x: this option is not known of rg"],
    ["rg *", "rg -z a", "-z: this option is not known of rg"],
    ["tail *", "tail -f a", "-f: this option is not known of tail"],
    ["diff *", "diff -l a b", "-l: this option is not known of diff"],
    ["sed *", "sed -ni 1p a", "-ni: this option is not known of sed"],
    ["tree *", "tree -o a", "-o: this option is not known of tree"],
    ["date *", "date -s x", "-s: this option is not known of date"],
    ["tar *", "tar -tzf a/b.tgz 'x*'"],
    ["tar *", "tar -xf a", "-xf: this option is not known of tar"],
    ["tar *", "tar -tf host:a", "host:a: this value is not known here"],
    ["tar *", "tar -tf ../a", "../a: this value is not known here"],
    ["tar *", "tar tf a", "tf: the first word of tar is options; write them with a dash"],
    ["command *", "command -v docker"],
    ["command *", "command ls", "command: only known with `-v`"],
    ["command *", "command ls -v", "-v: this value is not known here"],
    ["command *", "command -v 'a[$(id)]'", "a[$(id)]: this value is not known here"],
    ["echo *", "echo -n --- -x"]
  ],
  "so are their values, in each form": [
    ["git *", "git log -n 3 -n3 --max-count 3 --max-count=3 -3"],
    ["git *", "git log --color --color=always"],
    ["git *", "git log --color=evil", "--color=evil: this value is not known here"],
    ["git *", "git log --format='%G?'", "--format=%G?: this value is not known here"],
    ["grep *", "grep -rnA3 -e a src"],
    ["grep *", "grep -A x a src", "x: a number is expected"],
    [
      "grep *",
      "grep -f /etc/passwd a",
      "/etc/passwd: it lies outside of the working folder; a pattern may write the folder out, as in `cat /srv/log/*`"
    ],
    ["head *", "head -n -5 a"],
    [
      "git *",
      "git log --grep --output=x",
      "--output=x: this value looks like an option; write it in one word, `--grep=…`"
    ],
    ["grep *", "grep -e --include=x a", "--include=x: this value looks like an option; write it in one word, `-e…`"],
    ["ls *", "ls -w", "-w: its value is missing"]
  ],
  "so are the words that are no options": [
    ["uniq *", "uniq a"],
    ["uniq *", "uniq a b", "b: this word is not known of uniq"],
    ["xxd *", "xxd a b", "b: this word is not known of xxd"],
    ["grep *", "grep -e a b c"],
    ["diff *", "diff a", "diff: a word is missing"],
    ["git *", "git branch new", "new: this word is not known of git branch"],
    ["git *", "git tag v1", "v1: git tag takes it only with `-l`"],
    ["git *", "git tag -l v1"],
    ["git *", "git remote add x y", "add: this word is not known of git remote"],
    ["git *", "git config user.name Ada", "Ada: this word is not known of git config"],
    ["git *", "git stash pop", "stash: of git stash only `list` and `show` are known"],
    ["git *", "git config user.name", "git config: only known with `--get`"],
    ["git *", "git symbolic-ref HEAD refs/heads/x", "refs/heads/x: this word is not known of git symbolic-ref"],
    ["date *", "date 01010000", "01010000: this value is not known here"],
    ["git commit *", "git commit", "git commit: only known with `-m`"],
    ["git commit *", "git commit --amend -m x", "--amend: this option is not known of git commit"]
  ],
  "find has tests, and no actions": [
    ["find *", "find . -type f \\( -name '*.ts' -o -name '*.js' \\) -not -path '*/node_modules/*'"],
    ["find *", "find src -maxdepth 2 -print"],
    ["find *", "find . -delete", "-delete: this option is not known of find"],
    ["find *", "find src -name '*.ts' -exec wc -l {} +"],
    ["find *", "find . -exec grep -n a {} \\; -print"],
    ["find *", "find . -exec rm {} +", "rm: this program is not known; write the whole line, or trust the program"],
    ["find *", "find . -exec git log {} +", "git log: find may run only what reads and heeds nothing"],
    ["find *", "find . -exec sed -i s/a/b/ {} +", "-i: this option is not known of sed"],
    ["find *", "find . -exec uniq {} {} \\;", "{}: this word is not known of uniq"],
    ["find *", "find . -exec cat {}x \\;", unreadable("find . -exec cat {}x \\;")],
    ["find *", "find . -exec awk 'NR>0{}' \\;", "NR>0{}: what is found would be a part of it"],
    ["find *", "find . -exec awk {} \\;", "{}: programs with `.` are not known"],
    ["find *", "find host:a -exec tar -tf {} +", "{}: this value is not known here"],
    ["find *", "find . -exec ls * {} +", "*: what is found would be a part of it"],
    ["find *", "find . -exec {} \\;", "{}: this program is not known; write the whole line, or trust the program"],
    ["find *", "find . -exec cat {}", "-exec: its command is missing, or the end of it"],
    ["find *", "find . -execdir cat {} +", "-execdir: this option is not known of find"],
    ["find *", "find . -fprint x", "-fprint: this option is not known of find"],
    ["find *", "find . -name", "-name: its value is missing"],
    ["find *", "find -L .", "-L: this option is not known of find"]
  ],
  "programs and subcommands are known by name": [
    ["*", "frobnicate a", "frobnicate: this program is not known; write the whole line, or trust the program"],
    ["*", "./ls", "./ls: this program is not known; write the whole line, or trust the program"],
    ["*", "npm test", "npm: it runs what package.json says; write each whole line, or trust the program"],
    ["*", "xargs ls", "xargs: it runs another command; write each whole line, or trust the program"],
    ["*", "test -v 'a[$(id)]'", "test: this program is not known; write the whole line, or trust the program"],
    ["*", "printf -v 'a[$(id)]' x", "printf: this program is not known; write the whole line, or trust the program"],
    ["*", "node --version"],
    ["git *", "git mailinfo a b", "mailinfo: this subcommand of git is not known"],
    ["git *", "git checkout-index --p=/any/", "checkout-index: this subcommand of git is not known"],
    ["git *", "git", "git: a subcommand is missing"],
    ["ls *", "cat a", "cat: no pattern speaks of it"]
  ],
  "what is not written out only reads": [
    ["git *", "git add a", "git add: it changes files here; write `git add *` for it"],
    ["*,git *", "git add a", "git add: it changes files here; write `git add *` for it"],
    ["git a*", "git add", "git add: it changes files here; write `git add *` for it"],
    ["git add *", "git add a"],
    ["git add *", "git commit -m a", "git: no pattern speaks of it"],
    ["*", "git status", "git: it heeds git's settings; write `git *` for it"],
    ["*,git *", "git status"]
  ],
  "paths lie below the working folder, and hold no secrets": [
    ["cat *", "cat a b/c .gitignore .env.example"],
    ["cat *", "cat ../a", "../a: it leads out of the folder"],
    ["cat *", "cat a/../../b", "a/../../b: it leads out of the folder"],
    ["git *", "git show HEAD:../../a", "HEAD:../../a: it leads out of the folder"],
    ["git *", "git diff main..dev main...dev"],
    ["cat *", "cat .env", ".env: it is likely to hold secrets"],
    ["cat *", "cat a/.env.local", "a/.env.local: it is likely to hold secrets"],
    ["cat *", "cat keys/id_rsa", "keys/id_rsa: it is likely to hold secrets"],
    ["cat *", "cat .ssh/config", ".ssh/config: it is likely to hold secrets"],
    ["git *", "git show HEAD:.env", "HEAD:.env: it is likely to hold secrets"],
    ["cat .env *", "cat .env a"],
    ["grep *", "grep -f ../a b", "../a: it leads out of the folder"],
    ["grep *", "grep --file=../a b", "--file=../a: it leads out of the folder"]
  ],
  "little languages are known as far as they select": [
    ["sed *", "sed -n '10,20p' a"],
    ["sed *", "sed -n '/^def a/,/^def b/p;$p' a"],
    ["sed *", "sed -n '1e rm x' a", "1e rm x: only scripts that print ranges of lines are known, such as `10,20p`"],
    ["sed *", "sed -n '1w x' a", "1w x: only scripts that print ranges of lines are known, such as `10,20p`"],
    ["sed *", "sed s/a/b/e a", "s/a/b/e: only scripts that print ranges of lines are known, such as `10,20p`"],
    ["jq *", "jq '.a[] | select(.b == \"c\") | {d: .e, env: 1}' a"],
    ["jq *", "jq env a", "env: filters with `env` are not known"],
    ["jq *", "jq '.a|input_filename' a", ".a|input_filename: filters with `input_filename` are not known"],
    ["jq *", "jq '\"\\(env)\"' a", "\"\\(env)\": filters with `\\(` are not known"],
    ["jq *", "jq '$ENV' a", "$ENV: filters with `$` are not known"],
    ["awk *", "awk 'NR>=30 && NR<=60' a"],
    ["awk *", "awk -F, '{print $1, $NF}' a"],
    ["awk *", "awk '/^a\\/b/ && !/c/ {print NR \": \" $0}' a"],
    ["awk *", "awk '{print $1 > \"x\"}' a", "{print $1 > \"x\"}: programs with `>` in braces are not known"],
    ["awk *", "awk '{print | \"sh\"}' a", "{print | \"sh\"}: programs with `|` are not known"],
    ["awk *", "awk 'BEGIN{system(\"id\")}' a", "BEGIN{system(\"id\")}: programs with `BEGIN` are not known"],
    ["awk *", "awk '\"id\" | getline' a", "\"id\" | getline: programs with `|` are not known"],
    ["awk *", "awk '{print 1 /2 > \"x\" /1}' a", "{print 1 /2 > \"x\" /1}: programs that divide are not known"],
    ["awk *", "awk -f x a", "-f: this option is not known of awk"],
    ["jq *", "jq 'import \"a\" as b; .' a", "import \"a\" as b; .: filters with `import` are not known"]
  ],
  "after a pipe a filter that opens no file needs no pattern, nor does `true`": [
    ["git *", "git log | head -5 | sort -u | wc -l || true"],
    ["git *", "git log | grep -v a | sed -n 1,5p | jq . | cut -f1 | uniq -c | tail -n 3"],
    ["git *", "git log | cat - a", "cat: no pattern speaks of it"],
    ["git *", "git log | grep -r a", "grep: no pattern speaks of it"],
    ["git *", "git log | grep -f a", "grep: no pattern speaks of it"],
    ["git *", "git log | tee a", "tee: no pattern speaks of it"],
    ["git *", "head -5", "head: no pattern speaks of it"],
    ["git *", "git log | head --zz", "head: no pattern speaks of it"]
  ],
  "`cd below &&` needs none before programs that heed nothing": [
    ["ls *,git *", "cd src/a && ls | head && ls -l"],
    ["ls *,git *", "cd src && git status", "git: after `cd` only what heeds no settings of the folder is known"],
    [
      "ls *,git status",
      "cd src && ls; git status",
      "git: after `cd` only what heeds no settings of the folder is known"
    ],
    ["ls *", "cd ../a && ls", "cd: it is known only as `cd below && …`, with a folder below"],
    ["ls *", "cd - && ls", "cd: it is known only as `cd below && …`, with a folder below"],
    ["ls *", "cd a; ls", "cd: it is known only as `cd below && …`, with a folder below"],
    ["ls *", "ls && cd a", "cd: it is known only as `cd below && …`, with a folder below"],
    ["ls *,cd a", "cd a; ls"],
    ["git *,cd a", "cd a; git status", "git: after `cd` only what heeds no settings of the folder is known"]
  ],
  "a wildcard of the line is known where no name can be more than one of many files": [
    ["*", "wc -l src/*.ts"],
    ["*", "grep -rn a --include=*.ts src/**/b"],
    ["*", "ls -lh *.log"],
    ["*", "head *.log", "*.log: a name that the shell finds may be an option; write `./*`"],
    ["*", "head ./*.log"],
    ["*", "uniq a*", "a*: the shell puts names of files here"],
    ["*", "cat src/.*", "src/.*: the shell may find `..` or a file of secrets"],
    ["*", "grep -e a*", "a*: the shell puts names of files here"],
    ["*", "ec* a", "ec*: this program is not known; write the whole line, or trust the program"],
    ["npm test", "npm test a*", "npm: no pattern speaks of it"]
  ],
  "a line that cannot be read is not known": [
    [
      "*",
      "echo $(id)",
      "echo $(id): this is more than plain commands, quoted words, pipes, `&&`, `||` and `;`, so it cannot be told what it does"
    ]
  ]
}

const outside = "it lies outside of the working folder; a pattern may write the folder out, as in `cat /srv/log/*`"

for (const [rule, rows] of Object.entries(rules)) {
  describe(rule, () => {
    for (const [patterns, line, message] of rows) {
      it(`${patterns}: ${JSON.stringify(line)}`, () => {
        const { covered, refusals } = Shell.explain(line, patterns.split(","))
        const said = refusals.map((refusal) => refusal.message)
        assert.deepStrictEqual(said, message === undefined ? [] : [message])
        assert.strictEqual(covered, message === undefined)
      })
    }
  })
}

describe("where the line runs", () => {
  const lines = [
    "ls /home/ada/shop",
    "ls /home/ada/shop/src",
    "cd /home/ada/shop && git status",
    "cat /home/ada/shop/a"
  ]

  it("is not known without a word", () => {
    for (const line of lines) assert.isFalse(Shell.explain(line, ["*", "git *"]).covered, line)
    assert.deepStrictEqual(Shell.explain("ls /etc", ["*"]).refusals.map(({ message }) => message), [`/etc: ${outside}`])
  })

  it("is not known if it is told by halves", () => {
    for (const folder of ["", "/", "//", ".", "shop"]) {
      for (const line of [...lines, "ls /etc", "ls ./../a", "ls shop/../../a"]) {
        assert.isFalse(Shell.explain(line, ["*", "git *"], { folder }).covered, `${folder}: ${line}`)
      }
    }
  })

  it("is known if it is told", () => {
    for (const folder of ["/home/ada/shop", "/home/ada/shop/"]) {
      for (const line of lines) assert.isTrue(Shell.explain(line, ["*", "git *"], { folder }).covered, line)
      for (
        const line of [
          "ls /home/ada",
          "ls /home/ada/shopping",
          "ls /home/ada/shop/../x",
          "cat /home/ada/shop/.env",
          "cd /home/ada/shop/src && git status",
          "cd /home/ada && ls"
        ]
      ) {
        assert.isFalse(Shell.explain(line, ["*", "git *"], { folder }).covered, line)
      }
    }
  })
})
