/** Ways to say what other patterns forbid, and what only looks like one: written down before the code. */
import type { Rows } from "./table.ts"

export const rows: ReadonlyArray<Rows> = [
  {
    pattern: "git push --force *",
    refused: [
      ["git push --force", "as it is"],
      ["git push origin main --force", "at the end"],
      ["git push origin --force main", "in the middle"],
      ["git push -f", "for short"],
      ["git push -uf origin main", "among others"],
      ["git push -fu origin main", "among others"],
      ["git push --forc origin", "its beginning"],
      ["git push --fo origin", "its beginning"],
      ["git push origin +main", "by the branch"],
      ["git push origin '+HEAD:main'", "by the branch"],
      ["git push --force-with-lease", "the same act, with a look before"],
      ["git push --mirror", "the same act, for all branches"],
      ["git push origin $x", "what is not known before"],
      ["git push \"$x\"", "what is not known before"],
      ["git -C x push --force", "options before"],
      ["git --git-dir=x -c user.name=a push -f", "options before"],
      ["git --no-pager push --force", "options before"],
      ["git -c alias.p='push --force' p", "an alias"],
      ["git -c remote.origin.push=+main push", "a setting"],
      ["git -c \"$x\" push", "a setting that is not known before"],
      ["git p -f", "what may be an alias"],
      ["git p", "what may be an alias of it, with its options"],
      ["git config alias.p 'push --force'; git p", "an alias for now"],
      ["git config remote.origin.push +HEAD && git push", "a setting for later"],
      ["git remote add --mirror=push b ../b && git push b", "a setting for later"],
      ["f=-f; git push $f", "a variable"],
      ["git push {+main,dev}", "in braces"],
      ["git for-each-repo --config=x push -f", "for each repository"],
      ["mytool --run='git push -f'", "one word for a program that we do not know"],
      ["git $x -f", "what is not known before"],
      ["git pu\"\"sh -f", "quotes in it"],
      ["git send-pack --force origin", "the same act"],
      ["git send-pack -f origin", "the same act"],
      ["git http-push --force origin", "the same act"],
      ["git-push --force", "the program of it"],
      ["/usr/lib/git-core/git push -f", "by its path"],
      ["/usr/lib/git-core/git-send-pack --force x", "the program of it, by its path"],
      ["git subtree push --force", "the same act"],
      ["GIT push --force", "where case means nothing"],
      ["sudo git push -f", "run by another"],
      ["xargs git push -f", "run by another"],
      ["echo --force | xargs git push origin", "what xargs adds"],
      ["xargs git", "what xargs adds"],
      ["find . -exec git push -f \\;", "run by another"],
      ["npx git push -f", "run by another"],
      ["mytool 'git push --force'", "one word for a program that we do not know"],
      ["bash -c 'git pu\"\"sh -f'", "a text for a shell"],
      ["g() { git \"$@\"; }; g push -f", "a function"],
      ["g=git; $g push -f", "a variable"],
      ["alias g=git\ng push -f", "an alias of the shell"],
      ["git push $'\\x2df'", "in ANSI-C quotes"],
      ["git push {-f,origin}", "in braces"],
      ["git push -[f]", "by a wildcard"],
      ["git push origin :main", "the same act: what is there is gone"],
      ["git push origin --delete main", "the same act: what is there is gone"]
    ],
    let: [
      ["git push", "no option"],
      ["git push -u origin main", "another option"],
      ["git push origin HEAD:refs/heads/x", "a branch by its name"],
      ["git push --follow-tags", "another option"],
      ["git push --tags -n", "other options"],
      ["git stash push -f", "another act of git"],
      ["git log --grep 'push --force'", "another act of git"],
      ["git commit -m 'push --force is gone'", "another act of git"],
      ["git checkout --force x", "another act of git"],
      ["git checkout push -f", "another act of git"],
      ["git fetch --force", "another act of git"],
      ["git rm -f x", "another act of git"],
      ["npm install --force", "another program"],
      ["git status; npm install --force", "another program"],
      ["git push && npm install --force", "another program"],
      ["cat git push force", "another program"],
      ["git branch -f x; git push", "each without the other"],
      ["git fetch --force; git push", "each without the other"],
      ["git lfs pull -f", "another act of git"],
      ["git branch -f x", "another act of git"]
    ]
  },
  {
    pattern: "git push *",
    refused: [
      ["git push", "as it is"],
      ["git push origin HEAD 2>&1 | tail -5", "with others"],
      ["git -C elsewhere push", "options before"],
      ["git --work-tree x push", "options before"],
      ["git --exec-path=x status", "other subcommands"],
      ["git send-pack x", "the same act"],
      ["git lfs push origin", "the same act"],
      ["git svn dcommit", "the same act"],
      ["hub push", "git by another name"],
      ["git p", "what may be an alias"],
      ["git x push", "what may be an alias"],
      ["git -c alias.p=push p", "an alias"],
      ["jj git push", "the same words"],
      ["git $(echo push)", "what is not known before"],
      ["git submodule foreach git push", "run by another"],
      ["git submodule foreach 'git push'", "run by another"],
      ["git rebase -x 'git push' HEAD~2", "run by another"],
      ["git bisect run git push", "run by another"]
    ],
    let: [
      ["git status", "another act"],
      ["git log --oneline | grep push", "another act"],
      ["git stash push -m x", "another act"],
      ["git config push.default simple", "another act"],
      ["git show origin/push", "another act"],
      ["git checkout push", "another act"],
      ["git commit -m \"push later\"", "another act"],
      ["npm run push", "another program"],
      ["docker push x", "another program"],
      ["ls .git/push", "another program"]
    ]
  },
  {
    pattern: "git commit --no-verify *",
    refused: [
      ["git commit --no-verify -m x", "as it is"],
      ["git commit -m x --no-verify", "at the end"],
      ["git commit -nm x", "for short"],
      ["git commit -an -m x", "for short, among others"],
      ["git commit --no-v -m x", "its beginning"]
    ],
    let: [
      ["git commit -m x", "no option"],
      ["git commit -am 'no verify'", "a text"],
      ["git log -n 3", "another act"]
    ]
  },
  {
    pattern: "curl *",
    refused: [
      ["curl example.com", "as it is"],
      ["/usr/bin/curl -s x | tail", "by its path"],
      ["cu\\rl x", "with a backslash in it"],
      ["CURL x", "where case means nothing"],
      ["curl.exe x", "in Windows"],
      ["c$1url x", "with what is empty in it"],
      ["ls $(curl x)", "in a substitution"],
      ["ls; { curl x; }", "in a group"],
      ["nohup curl x &", "run by another"],
      ["xargs -n1 curl < urls", "run by another"],
      ["$(echo Y3VybAo= | base64 -d) x", "what is not known before"],
      ["python -c 'x'", "a text for an interpreter"],
      ["node -p 'await fetch(x)'", "a text for an interpreter"],
      ["bash -c 'cu''rl x'", "a text for a shell"],
      ["exec 3<>/dev/tcp/example.com/80", "a connection of the shell's own"],
      ["cat < /dev/tcp/example.com/80", "a connection of the shell's own"],
      ["cat < /dev/${p}cp/example.com/80", "a connection of the shell's own, not known before"],
      ["d=/dev; cat < $d/tcp/example.com/80", "a connection of the shell's own, not known before"],
      ["docker run --entrypoint curl x", "run in a container"]
    ],
    let: [
      ["ls libcurl curly mycurl", "letters of another word"],
      ["npm install curl-parser", "another package"],
      ["wget x", "another program: no act of one meaning, one may be allowed without the other"],
      ["cat docs/curl.md", "a file of that name"],
      ["ls node_modules/curl/lib", "a folder of that name"]
    ]
  },
  {
    pattern: "curl -X POST *",
    refused: [
      ["curl -X POST x", "as it is"],
      ["curl x -X POST", "at the end"],
      ["curl -XPOST x", "in one word"],
      ["curl -sXPOST x", "in one word, among others"],
      ["curl --request POST x", "in full"],
      ["curl --request=POST x", "in full"],
      ["curl -X post x", "where case means nothing"],
      ["curl -X $METHOD x", "what is not known before"],
      ["curl -d a=b x", "the same act: data is sent by POST"],
      ["curl --data-raw @f x", "the same act: data is sent by POST"],
      ["curl -F a=@b x", "the same act: a form is sent by POST"],
      ["curl --json '{}' x", "the same act"],
      ["curl -K config", "options in a file"]
    ],
    let: [
      ["curl x", "no option"],
      ["curl -sL x | jq .version", "other options"],
      ["curl -X GET x", "another value"],
      ["curl -o out https://example.com/post", "letters of another word"]
    ]
  },
  {
    pattern: "npm publish *",
    refused: [
      ["npm publish", "as it is"],
      ["npm --access public publish", "options before"],
      ["npm publish --dry-run", "options after"],
      ["npm -w a publish", "options before"],
      ["npm --prefix a publish", "options before"],
      ["npm publis", "its beginning"],
      ["npm pub", "its beginning"],
      ["npm pu", "its beginning"],
      ["corepack npm publish", "run by another"],
      ["node $(npm root -g)/npm/bin/npm-cli.js publish", "by its file"],
      ["npx @changesets/cli publish", "the same act"],
      ["npm.cmd publish", "in Windows"],
      ["npx npm publish", "run by another"],
      ["npm exec npm publish", "run by another"],
      ["pnpm publish -r", "the same act"],
      ["yarn npm publish", "the same act"],
      ["yarn publish", "the same act"],
      ["bun publish", "the same act"],
      ["npx lerna publish", "the same act"],
      ["npx changeset publish", "the same act"],
      ["npx np", "the same act"],
      ["npm run publish", "the words stand there, so it may"],
      ["npm $x", "what is not known before"],
      ["node ~/npm-cli.js publish", "by its file"],
      ["echo publish | xargs npm", "what xargs adds"]
    ],
    let: [
      ["npm test", "another act"],
      ["npm run publish-docs", "a script of another name"],
      ["npm install publisher", "letters of another word"],
      ["npm pack", "another act"],
      ["npm ci && echo published", "letters of another word"],
      ["cargo publish", "another program"],
      ["nx release publish", "no act of one meaning that we know"],
      ["npm unpublish x", "another act"]
    ]
  },
  {
    pattern: "rm -rf *",
    refused: [
      ["rm -rf x", "as it is"],
      ["rm -fr x", "the same set"],
      ["rm -r -f x", "one by one"],
      ["rm -f a b -r", "one by one, apart"],
      ["rm -R -f x", "the other letter for it"],
      ["rm -Rvf x", "among others"],
      ["rm --recursive --force x", "in full"],
      ["rm --rec --forc x", "in full, their beginnings"],
      ["rm -r --force x", "half in full"],
      ["rm $flags x", "what is not known before"],
      ["rm {-r,-f} x", "in braces"],
      ["find . -delete", "the same act"],
      ["rimraf x", "the same act"],
      ["git clean -fdx", "the same act"],
      ["xargs rm", "what xargs adds"]
    ],
    let: [
      ["rm x", "without"],
      ["rm -f x", "without one"],
      ["rm -r x", "without one"],
      ["rm -i x", "another option"],
      ["unlink x", "removes one file"],
      ["ls -rf x", "another program"]
    ]
  },
  {
    pattern: "terraform apply *",
    refused: [
      ["terraform apply -auto-approve", "as it is"],
      ["terraform -chdir=x apply", "options before"],
      ["sudo terraform 'apply'", "run by another"]
    ],
    let: [
      ["terraform plan", "another act"],
      ["git apply terraform.patch", "another program"]
    ]
  },
  {
    pattern: "python *",
    refused: [
      ["python a.py", "as it is"],
      ["python3 a.py", "with a version"],
      ["python3.12 a.py", "with a version"],
      ["uv run python a.py", "run by another"],
      ["pypy a.py", "the same by another name"]
    ],
    let: [
      ["cat pythonic.md", "letters of another word"],
      ["ls python-docs", "another word"]
    ]
  },
  {
    pattern: "@a/b~c+d,e#f%g *",
    refused: [["npx '@a/b~c+d,e#f%g' x", "whatever a program is called"]],
    let: [["npx a", "another program"]]
  },
  {
    pattern: "npm run test:*",
    refused: [
      ["npm run test:unit", "as it is"],
      ["npm run-script test:unit", "the same by another name"],
      ["npm run $x", "what is not known before"],
      ["npm --silent run test:e2e", "options before"]
    ],
    let: [
      ["npm run build", "another script"],
      ["npm test", "another act"]
    ]
  },
  {
    pattern: "*",
    refused: [
      ["ls", "anything"],
      ["", "even nothing"]
    ],
    let: []
  },
  {
    pattern: "git push && ls",
    refused: [
      ["git push && ls", "as it is"],
      ["ls -la; git push origin main", "both, in another order"],
      ["bash -c \"$x\"", "a text may be both"]
    ],
    let: [
      ["ls", "one of them"],
      ["git push", "the other"]
    ]
  },
  {
    pattern: "git push $x",
    refused: [
      ["ls", "the pattern cannot be read, so nobody knows what it forbids"]
    ],
    let: []
  }
]
