/** The rules of what a `*` stands for, each as a table: what is known, and what is not and why. */
import { Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"

type Rows = ReadonlyArray<readonly [patterns: string, line: string, message?: string]>

const unreadable = (line: string): string =>
  `${line}: only plain commands, quoted words, pipes, \`&&\`, \`||\` and \`;\` can be checked`

/** Patterns with commas between them; a row without a message is covered. */
const rules: { readonly [rule: string]: Rows } = {
  "options are known in full spelling": [
    ["git *", "git branch --show-current"],
    ["git *", "git branch --show-curren", "--show-curren: not a known option of git branch"],
    ["git *", "git log --output=/x", "--output=/x: not a known option of git log"],
    ["git *", "git log --output /x", "--output: not a known option of git log"],
    ["git *", "git grep -1O'touch P;' x", "-1Otouch P;: not a known option of git grep"],
    ["git *", "git grep -nO x", "-nO: not a known option of git grep"],
    ["git *", "git -p log", "-p: not a known option before a subcommand of git"],
    ["git *", "git -c a=b log", "-c: not a known option before a subcommand of git"],
    ["sort *", "sort --compress-prog=x a", "--compress-prog=x: not a known option of sort"],
    ["sort *", "sort -o a a", "-o: not a known option of sort"],
    ["rg *", "rg --pre=x a", "--pre=x: not a known option of rg"],
    ["rg *", "rg -z a", "-z: not a known option of rg"],
    ["tail *", "tail -f a", "-f: not a known option of tail"],
    ["diff *", "diff -l a b", "-l: not a known option of diff"],
    ["sed *", "sed -ni 1p a", "-ni: not a known option of sed"],
    ["tree *", "tree -o a", "-o: not a known option of tree"],
    ["date *", "date -s x", "-s: not a known option of date"],
    ["tar *", "tar -tzf a/b.tgz 'x*'"],
    ["tar *", "tar -xf a", "-xf: not a known option of tar"],
    ["tar *", "tar -tf host:a", "host:a: not a known value"],
    ["tar *", "tar -tf ../a", "../a: not a known value"],
    ["tar *", "tar tf a", "tf: tar reads its first argument as options; write them with a dash"],
    ["command *", "command -v docker"],
    ["command *", "command ls", "command: covered only with `-v`"],
    ["command *", "command ls -v", "-v: not a known value"],
    ["command *", "command -v 'a[$(id)]'", "a[$(id)]: not a known value"],
    ["echo *", "echo -n --- -x"]
  ],
  "so are their values, in each form": [
    ["git *", "git log -n 3 -n3 --max-count 3 --max-count=3 -3"],
    ["git *", "git log --color --color=always"],
    ["git *", "git log --color=evil", "--color=evil: not a known value"],
    ["git *", "git log --format='%G?'", "--format=%G?: not a known value"],
    ["grep *", "grep -rnA3 -e a src"],
    ["grep *", "grep -A x a src", "x: a number is expected"],
    [
      "grep *",
      "grep -f /etc/passwd a",
      "/etc/passwd: it is outside the working folder; a pattern can name the folder, as in `cat /srv/log/*`"
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
    ["uniq *", "uniq a b", "b: not a known argument of uniq"],
    ["xxd *", "xxd a b", "b: not a known argument of xxd"],
    ["grep *", "grep -e a b c"],
    ["diff *", "diff a", "diff: an argument is missing"],
    ["git *", "git branch new", "new: not a known argument of git branch"],
    ["git *", "git tag v1", "v1: allowed for git tag only with `-l`"],
    ["git *", "git tag -l v1"],
    ["git *", "git remote add x y", "add: not a known argument of git remote"],
    ["git *", "git config user.name Ada", "Ada: not a known argument of git config"],
    ["git *", "git stash pop", "stash: git stash is covered only with `list` or `show`"],
    ["git *", "git config user.name", "git config: covered only with `--get`"],
    ["git *", "git symbolic-ref HEAD refs/heads/x", "refs/heads/x: not a known argument of git symbolic-ref"],
    ["date *", "date 01010000", "01010000: not a known value"],
    ["git commit *", "git commit", "git commit: covered only with `-m`"],
    ["git commit *", "git commit --amend -m x", "--amend: not a known option of git commit"]
  ],
  "find has tests, and no actions": [
    ["find *", "find . -type f \\( -name '*.ts' -o -name '*.js' \\) -not -path '*/node_modules/*'"],
    ["find *", "find src -maxdepth 2 -print"],
    ["find *", "find . -delete", "-delete: not a known option of find"],
    ["find *", "find src -name '*.ts' -exec wc -l {} +"],
    ["find *", "find . -exec grep -n a {} \\; -print"],
    [
      "find *",
      "find . -exec rm {} +",
      "rm: not a known program; write the whole line as a pattern, or trust the program"
    ],
    ["find *", "find . -exec git log {} +", "git log: find may run only programs that read, and that use no settings"],
    ["find *", "find . -exec sed -i s/a/b/ {} +", "-i: not a known option of sed"],
    ["find *", "find . -exec uniq {} {} \\;", "{}: not a known argument of uniq"],
    ["find *", "find . -exec cat {}x \\;", unreadable("find . -exec cat {}x \\;")],
    ["find *", "find . -exec awk 'NR>0{}' \\;", "NR>0{}: a file name that is found would become a part of it"],
    ["find *", "find . -exec awk {} \\;", "{}: programs with `.` are not covered"],
    ["find *", "find host:a -exec tar -tf {} +", "{}: not a known value"],
    ["find *", "find . -exec ls * {} +", "*: a file name that is found would become a part of it"],
    [
      "find *",
      "find . -exec {} \\;",
      "{}: not a known program; write the whole line as a pattern, or trust the program"
    ],
    ["find *", "find . -exec cat {}", "-exec: its command, or the end of that command, is missing"],
    ["find *", "find . -execdir cat {} +", "-execdir: not a known option of find"],
    ["find *", "find . -fprint x", "-fprint: not a known option of find"],
    ["find *", "find . -name", "-name: its value is missing"],
    ["find *", "find -L .", "-L: not a known option of find"]
  ],
  "programs and subcommands are known by name": [
    ["*", "frobnicate a", "frobnicate: not a known program; write the whole line as a pattern, or trust the program"],
    ["*", "./ls", "./ls: not a known program; write the whole line as a pattern, or trust the program"],
    ["*", "npm test", "npm: it runs what package.json says; write each whole line as a pattern, or trust the program"],
    ["*", "xargs ls", "xargs: it runs another command; write each whole line as a pattern, or trust the program"],
    ["*", "test -v 'a[$(id)]'", "test: not a known program; write the whole line as a pattern, or trust the program"],
    [
      "*",
      "printf -v 'a[$(id)]' x",
      "printf: not a known program; write the whole line as a pattern, or trust the program"
    ],
    ["*", "node --version"],
    [
      "git *",
      "git mailinfo a b",
      "mailinfo: not a subcommand of git that is known here; write each whole line as a pattern"
    ],
    [
      "git *",
      "git checkout-index --p=/any/",
      "checkout-index: not a subcommand of git that is known here; write each whole line as a pattern"
    ],
    ["git *", "git", "git: a subcommand is missing"],
    ["ls *", "cat a", "cat: no pattern covers it"]
  ],
  "what is not written out only reads": [
    ["git *", "git add a", "git add: it changes files; the pattern `git add *` allows it"],
    ["*,git *", "git add a", "git add: it changes files; the pattern `git add *` allows it"],
    ["git a*", "git add", "git add: it changes files; the pattern `git add *` allows it"],
    ["git add *", "git add a"],
    ["git add *", "git commit -m a", "git: no pattern covers it"],
    ["*", "git status", "git: it reads git's settings; the pattern `git *` allows it"],
    ["*,git *", "git status"]
  ],
  "paths lie below the working folder, and hold no secrets": [
    ["cat *", "cat a b/c .gitignore .env.example"],
    ["cat *", "cat ../a", "../a: it leads out of the working folder"],
    ["cat *", "cat a/../../b", "a/../../b: it leads out of the working folder"],
    ["git *", "git show HEAD:../../a", "HEAD:../../a: it leads out of the working folder"],
    ["git *", "git diff main..dev main...dev"],
    ["cat *", "cat .env", ".env: it may hold secrets"],
    ["cat *", "cat a/.env.local", "a/.env.local: it may hold secrets"],
    ["cat *", "cat keys/id_rsa", "keys/id_rsa: it may hold secrets"],
    ["cat *", "cat .ssh/config", ".ssh/config: it may hold secrets"],
    ["git *", "git show HEAD:.env", "HEAD:.env: it may hold secrets"],
    ["cat .env *", "cat .env a"],
    ["grep *", "grep -f ../a b", "../a: it leads out of the working folder"],
    ["grep *", "grep --file=../a b", "--file=../a: it leads out of the working folder"]
  ],
  "little languages are known as far as they select": [
    ["sed *", "sed -n '10,20p' a"],
    ["sed *", "sed -n '/^def a/,/^def b/p;$p' a"],
    ["sed *", "sed -n '1e rm x' a", "1e rm x: only scripts that print ranges of lines are covered, such as `10,20p`"],
    ["sed *", "sed -n '1w x' a", "1w x: only scripts that print ranges of lines are covered, such as `10,20p`"],
    ["sed *", "sed s/a/b/e a", "s/a/b/e: only scripts that print ranges of lines are covered, such as `10,20p`"],
    ["jq *", "jq '.a[] | select(.b == \"c\") | {d: .e, env: 1}' a"],
    ["jq *", "jq env a", "env: filters with `env` are not covered"],
    ["jq *", "jq '.a|input_filename' a", ".a|input_filename: filters with `input_filename` are not covered"],
    ["jq *", "jq '\"\\(env)\"' a", "\"\\(env)\": filters with `\\(` are not covered"],
    ["jq *", "jq '$ENV' a", "$ENV: filters with `$` are not covered"],
    ["awk *", "awk 'NR>=30 && NR<=60' a"],
    ["awk *", "awk -F, '{print $1, $NF}' a"],
    ["awk *", "awk '/^a\\/b/ && !/c/ {print NR \": \" $0}' a"],
    ["awk *", "awk '{print $1 > \"x\"}' a", "{print $1 > \"x\"}: programs with `>` in braces are not known"],
    ["awk *", "awk '{print | \"sh\"}' a", "{print | \"sh\"}: programs with `|` are not covered"],
    ["awk *", "awk 'BEGIN{system(\"id\")}' a", "BEGIN{system(\"id\")}: programs with `BEGIN` are not covered"],
    ["awk *", "awk '\"id\" | getline' a", "\"id\" | getline: programs with `|` are not covered"],
    ["awk *", "awk '{print 1 /2 > \"x\" /1}' a", "{print 1 /2 > \"x\" /1}: programs that divide are not covered"],
    ["awk *", "awk -f x a", "-f: not a known option of awk"],
    ["jq *", "jq 'import \"a\" as b; .' a", "import \"a\" as b; .: filters with `import` are not covered"]
  ],
  "after a pipe a filter that opens no file needs no pattern, nor does `true`": [
    ["git *", "git log | head -5 | sort -u | wc -l || true"],
    ["git *", "git log | grep -v a | sed -n 1,5p | jq . | cut -f1 | uniq -c | tail -n 3"],
    ["git *", "git log | cat - a", "cat: no pattern covers it"],
    ["git *", "git log | grep -r a", "grep: no pattern covers it"],
    ["git *", "git log | grep -f a", "grep: no pattern covers it"],
    ["git *", "git log | tee a", "tee: no pattern covers it"],
    ["git *", "head -5", "head: no pattern covers it"],
    ["git *", "git log | head --zz", "head: no pattern covers it"]
  ],
  "`cd below &&` needs none before programs that heed nothing": [
    ["ls *,git *", "cd src/a && ls | head && ls -l"],
    [
      "ls *,git *",
      "cd src && git status",
      "git: after `cd`, only programs that use no settings of the folder are covered"
    ],
    [
      "ls *,git status",
      "cd src && ls; git status",
      "git: after `cd`, only programs that use no settings of the folder are covered"
    ],
    ["ls *", "cd ../a && ls", "cd: `cd` is covered only as `cd subfolder && …`"],
    ["ls *", "cd - && ls", "cd: `cd` is covered only as `cd subfolder && …`"],
    ["ls *", "cd a; ls", "cd: `cd` is covered only as `cd subfolder && …`"],
    ["ls *", "ls && cd a", "cd: `cd` is covered only as `cd subfolder && …`"],
    ["ls *,cd a", "cd a; ls"],
    ["git *,cd a", "cd a; git status", "git: after `cd`, only programs that use no settings of the folder are covered"]
  ],
  "a wildcard of the line is known where no name can be more than one of many files": [
    ["*", "wc -l src/*.ts"],
    ["*", "grep -rn a --include=*.ts src/**/b"],
    ["*", "ls -lh *.log"],
    ["*", "head *.log", "*.log: a file name may look like an option; write `./*`"],
    ["*", "head ./*.log"],
    ["*", "uniq a*", "a*: the shell replaces it with file names"],
    ["*", "cat src/.*", "src/.*: it may match `..` or a file with secrets"],
    ["*", "grep -e a*", "a*: the shell replaces it with file names"],
    ["*", "ec* a", "ec*: not a known program; write the whole line as a pattern, or trust the program"],
    ["npm test", "npm test a*", "npm: no pattern covers it"]
  ],
  "a line that cannot be read is not known": [
    [
      "*",
      "echo $(id)",
      "echo $(id): only plain commands, quoted words, pipes, `&&`, `||` and `;` can be checked"
    ]
  ]
}

const outside = "it is outside the working folder; a pattern can name the folder, as in `cat /srv/log/*`"

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
