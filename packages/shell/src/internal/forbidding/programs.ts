/**
 * What is known of programs that run others, or what they are given as text. The list is what we know, no proof.
 */

const set = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/).filter((name) => name !== ""))

/** Run none of their words, and nothing that stands in them. */
export const plain = set(`
  : [ ack ag apk apt-cache arch b2sum base32 base64 basename bg black bunzip2 bzcat bzip2 cal cat cd cfssl chgrp chmod
  chown cksum clear cloc cmp column comm cp csplit curl cut date declare df diff diff3 dig dirname dirs dnf dos2unix du echo
  egrep eslint expand expr export false fg fgrep file fmt fold free gofmt grep groups gunzip gzip head hexdump host hostname
  iconv id identify ifconfig info install ip isort jobs join jq kill killall less ln local locale locate logname look ls lsblk
  lsof md5 md5sum mkdir mkfifo mktemp more mount mv mypy netstat nl nm nproc nslookup numfmt objdump od paste patch
  pgrep ping pip pip3 pkill popd pr prettier printenv printf ps pushd pwd pyright read readelf readlink readonly realpath
  return rev rmdir ruff seq set sha1sum sha224sum sha256sum sha384sum sha512sum shasum shift shuf size sleep ss stat strings
  stty sum sync tac tail tee test touch tput tr tree true truncate tsc tsort tty type typeset ulimit umask uname unexpand
  uniq unset unix2dos unxz unzip uptime users vmstat wait wc wget whereis which who whoami xxd xz xzcat yamllint yes yq zcat
  zgrep zstd exit break continue man bat dpkg-query tig apropos whatis history getent groupadd
`)

/** Put files where another command may run them. */
export const copying = set("cp mv ln install tee dd curl wget")

/** Write files that are named in their words. */
export const writing = set(`
  aria2c awk base32 base64 bunzip2 cp cpio csplit curl dd ed ex envsubst ffmpeg gawk gpg gunzip iconv install jq ln m4
  mawk mv openssl patch rsync scp sed sftp shuf sort split sponge tar tee truncate unxz unzip uudecode
  wget xxd yq zstd
`)

/** Files in which programs look for what they run. */
export const instructions: { readonly [name: string]: RegExp } = {
  bun: /^package\.json$/,
  cargo: /^(?:Cargo\.toml|build\.rs|config\.toml)$/,
  docker: /^(?:Dockerfile|.*compose.*\.ya?ml)$/,
  cc: /\.[ch](?:c|pp)?$/,
  gcc: /\.[ch](?:c|pp)?$/,
  go: /\.go$/,
  java: /\.java$/,
  rustc: /\.rs$/,
  git: /^(?:config|\.gitconfig|\.gitattributes|\.gitmodules)$|^(?:pre|post|commit|prepare|update|applypatch)-/,
  gmake: /^(?:GNU)?[Mm]akefile$|\.mk$/,
  just: /^\.?justfile$/i,
  make: /^(?:GNU)?[Mm]akefile$|\.mk$/,
  npm: /^(?:package\.json|\.npmrc)$/,
  npx: /^package\.json$/,
  pnpm: /^(?:package\.json|\.npmrc)$/,
  pytest: /^conftest\.py$/,
  rake: /^Rakefile$/i,
  yarn: /^package\.json$/
}

/** Shells, for which every word may be a program. */
export const shells = set(
  "ash bash csh dash elvish fish hush ksh ksh93 lksh mksh nu oksh osh pdksh posh rbash rksh sh tcsh xonsh yash zsh"
)

/** Give what they get to a shell, or carry it out themselves, in a form that we do not read. */
export const texts = set(`
  at batch cmd command.com concurrently cross-env-shell crontab eval expect fc hyperfine iex invoke-expression mshta
  parallel powershell pwsh rexec rsh screen script slogin ssh su newgrp sg tmux trap watch wscript cscript wmic wsl
`)

/** Options of a program that runs the words after them. */
export interface Wrapper {
  /** Take the next word. */
  readonly values?: ReadonlySet<string>
  /** Stand alone. */
  readonly flags?: ReadonlySet<string>
  /** Words before the program. */
  readonly words?: number
  /** `A=b` before the program. */
  readonly variables?: true
  /** Options whose value is a text for a shell, or that run a shell. */
  readonly text?: RegExp
  /** Options with which it only looks. */
  readonly looks?: RegExp
}

const wrapper = (flags: string, values: string, others: Omit<Wrapper, "flags" | "values"> = {}): Wrapper => ({
  flags: set(flags),
  values: set(values),
  ...others
})

const plainWrapper = wrapper("", "")

export const wrappers: { readonly [name: string]: Wrapper } = {
  builtin: plainWrapper,
  busybox: wrapper("", "", { looks: /^--(?:list|list-full|help)$/ }),
  bunx: wrapper("--bun -y", "-p --package"),
  caffeinate: wrapper("-d -i -m -s -u", "-t -w"),
  chronic: plainWrapper,
  chroot: wrapper("", "", { words: 1 }),
  chrt: wrapper("-b -f -i -o -r", "", { words: 1 }),
  command: wrapper("-p", "", { looks: /^-p?[vV]$/ }),
  "cross-env": wrapper("", "", { variables: true }),
  doas: wrapper("-n -L", "-u -C", { text: /^-[a-zA-Z]*s/ }),
  dotenv: wrapper("--", "-e -f"),
  env: wrapper("-i - -0 -v --ignore-environment", "-u -C --unset --chdir", {
    variables: true,
    text: /^-[a-zA-Z0]*S|^--s/
  }),
  exec: wrapper("-c -l", "-a"),
  fakeroot: wrapper("", ""),
  ionice: wrapper("-t", "-c -n"),
  noglob: plainWrapper,
  nocorrect: plainWrapper,
  nice: wrapper("", "-n --adjustment"),
  nohup: plainWrapper,
  npx: wrapper("-y --yes --no -q --quiet --no-install --prefer-offline", "-p --package", { text: /^-c|^--ca/ }),
  setsid: wrapper("-c -f -w --wait --fork", ""),
  stdbuf: wrapper("", "-i -o -e"),
  sudo: wrapper("-n -E -H -S -k -b -A -P --", "-u -g -h -p -C -r -t -T -U -D -R", {
    variables: true,
    text: /^-[a-zA-Z]*[sie]|^--(?:sh|l|e)/,
    looks: /^-[lvVK]$/
  }),
  taskset: wrapper("", "", { words: 1 }),
  time: wrapper("-p -v -a --verbose", "-f -o"),
  timeout: wrapper("-v --foreground --preserve-status", "-k -s --kill-after --signal", { words: 1 }),
  gtimeout: wrapper("-v --foreground --preserve-status", "-k -s --kill-after --signal", { words: 1 }),
  toybox: plainWrapper,
  unbuffer: wrapper("-p", ""),
  xargs: wrapper(
    "-0 -r -t -p -x --null --no-run-if-empty --verbose --interactive",
    "-I -n -P -d -L -s -a -E --max-args --max-procs --delimiter --max-lines --arg-file --replace"
  ),
  gxargs: wrapper("-0 -r -t -x --null --no-run-if-empty", "-I -n -P -d -L -s -a -E")
}

/** Programs to which words are added that the line does not show. */
export const adding = set("xargs gxargs parallel")

/** How an interpreter is given its text, if not as a file. */
export interface Interpreter {
  readonly name: RegExp
  readonly text: RegExp
  /** Take the next word. */
  readonly values: ReadonlySet<string>
  /** Long options that stand alone. */
  readonly flags: RegExp
  /** With these it does something else than carry out a text. */
  readonly other: RegExp
}

const interpreter = (name: RegExp, text: RegExp, values: string, flags: RegExp, other: RegExp): Interpreter => ({
  name,
  text,
  values: set(values),
  flags,
  other
})

const version = /^(?:-[vVh]|--version|--help)$/

export const interpreters: ReadonlyArray<Interpreter> = [
  interpreter(
    /^(?:python|pypy|ipython|ptpython|jython|micropython)[\d.]*w?$/,
    /^-[bBdEhIOPqRsSuvVx]*[ci]|^-$/,
    "-W -X --check-hash-based-pycs",
    /^-[bBdEiIOPqRsSuvx]+$/,
    /^(?:-[vVh?]+|--version|--help)$/
  ),
  interpreter(
    /^perl[\d.]*$/,
    /^-[^-]*[eE]|^-[mM].*[^\w:=,-]|^-$/,
    "-I",
    /^-[^-]*$/,
    /^-[vV]|^--(?:version|help)$/
  ),
  interpreter(
    /^(?:ruby|jruby|truffleruby)[\d.]*$/,
    /^-[^-]*e|^-$/,
    "-r -I -C -E -F",
    /^-[acdlnpsSuUvwWy0-9]+$|^--(?:yjit|jit|disable.*|enable.*)$/,
    version
  ),
  interpreter(/^(?:lua|luajit|luau)[\d.-]*$/, /^-[A-Za-z]*e|^-$/, "-l", /^-[EiW]$/, version),
  interpreter(
    /^php[\d.]*$/,
    /^-[A-Za-z]*[rBREF]|^--(?:run|process|r)|^-$|^-d/,
    "-c -t -z",
    /^-[nqClsw]$/,
    /^(?:-[vVhmiS]|--(?:version|help|ini|info|modules))$/
  ),
  interpreter(
    /^(?:node|nodejs|tsx|ts-node|ts-node-esm|esno|jiti|vite-node|babel-node|electron|qjs|d8)[\d.]*$/,
    /^-[a-z]*[ep]|^--(?:eval|print|pr|ev|input-type|interactive)|^-i$|data:|^-$/,
    "-r --require --import --loader --experimental-loader -C --conditions --env-file --test-name-pattern --test-reporter --tsconfig --project -P",
    /^--(?:test|watch|no-warnings|trace-warnings|enable-source-maps|inspect|inspect-brk|expose-gc|experimental-[a-z-]+|strip-types|no-[a-z-]+|trace-[a-z-]+)$|^--[a-z-]+=/,
    /^(?:-[vhc]|--version|--help|--check|--test|--run|--v8-options|--completion-bash)/
  ),
  interpreter(/^deno$/, /^(?:eval|repl|-)$|data:/, "", /^-q$/, /^(?:[a-z]{2,}|-[Vh]|--version|--help)$/),
  interpreter(
    /^bun$/,
    /^-[a-z]*[ep]$|^--(?:eval|print)|^(?:exec|repl|-)$|data:/,
    "",
    /^--(?:bun|silent|watch|hot)$/,
    /^(?:[a-z]{2,}|-[vh]|--version|--help|--revision)$/
  ),
  interpreter(
    /^(?:osascript|rscript|r|julia|ghc|ghci|runghc|elixir|iex|erl|escript|scala|groovy|clojure|clj|racket|guile|swift|tclsh|wish|gdb|lldb|jshell|irb|pry|gnuplot|octave|m4|dc|coffee|ocaml|sbcl|clisp|raku|rakudo|crystal|nim|kotlin|dotnet-script|rlwrap|janet|bb|babashka|haxe)$/,
    /^-/,
    "",
    /^$/,
    /^--(?:version|help)$|^-[vV]$/
  ),
  interpreter(
    /^(?:vi|vim|view|nvim|gvim|rvim|vimdiff|ex|ed|red|emacs|emacsclient|kak|joe|micro)$/,
    /^[-+]/,
    "",
    /^$/,
    /^--(?:version|help)$/
  )
]

/** Modules of Python that take a text. */
export const pythonTexts = set(
  "asyncio bdb cprofile code codeop doctest idlelib ipython pdb profile ptpython timeit trace"
)

/** Options, of programs that run nothing else, that name a program or give a text to a shell. */
export const handing: { readonly [name: string]: RegExp } = {
  aria2c: /^--on-/,
  apt: /^-o|^--option|::/,
  "apt-get": /^-o|^--option|::/,
  bat: /^--pager/,
  bsdtar: /^-?[A-Za-z]*[IF]|^--(?:us|to-c|ch|in|new-v|rmt|rsh|I)/,
  cpio: /^--(?:rsh|rmt)/,
  dpkg: /^--(?:pre|post)-i|^--admindir|^--force-/,
  gcc: /^-wrapper|^-B|^-fplugin/,
  go: /^--?(?:exec|toolexec|vettool)(?:=|$)/,
  gtar: /^-[A-Za-z]*[IF]|^--(?:us|to-c|checkpoint-|in|new-v|rmt|rsh|I)/,
  less: /^\+|^-[kK]|^--lesskey/,
  make: /^--ev|^-[A-Za-z]*E|\$[({]|^SHELL=|^-[A-Za-z]*f(?:-|\/dev)?$|^--(?:file|makefile)=(?:-|\/dev)/,
  gmake: /^--ev|^-[A-Za-z]*E|\$[({]|^SHELL=|^-[A-Za-z]*f(?:-|\/dev)?$/,
  man: /^-[A-Za-z]*[HP]|^--(?:pag|ht)/,
  mysql: /\\[!PeE.]|\b(?:system|pager|edit|source|tee)\b/,
  nodemon: /^-[A-Za-z]*x|^--exec/,
  npm: /^scripts|^(?:--)?(?:script-shell|editor|git|shell|viewer|browser|node-options)\b|^(?:-c|--call)|^set-script$/,
  pnpm: /^--script-shell|^(?:-c|--shell-mode)$/,
  psql: /\\(?:[!ogweis]|copy|lo)|\bprogram\b|`/i,
  rg: /^--(?:pre|hostname-bin)(?:=|$)/,
  rsync: /^-[A-Za-z0-9]*e|^--(?:rsh|rsync-p)/,
  scp: /^-[A-Za-z0-9]*[SoF]/,
  sftp: /^-[A-Za-z0-9]*[SoFb]/,
  sort: /^--co/,
  split: /^--f/,
  sqlite3: /\.\s*s(?:[hy]|\b)|\.(?:load|excel|once|output)\b|^-cmd|\b(?:edit|load_extension)\b/i,
  tar: /^-[A-Za-z]*[IF]|^--(?:us|to-c|checkpoint-|in|new-v|rmt|rsh|I)/,
  tcpdump: /^-[A-Za-z]*z|^--post/,
  wget: /^-[A-Za-z]*e|^--(?:exe|use-a)/,
  "yt-dlp": /^--(?:exec|ppa|postprocessor|downloader|external-d|netrc-cmd)/,
  zip: /^-[A-Za-z]*TT|^--unz|^-TT/,
  docker: /^--(?:health-c|entrypoint=.*\s)|^-$|^-f-$|^--file=-$/,
  flock: /^-[A-Za-z]*c|^--com/,
  runuser: /^-[A-Za-z]*c|^--(?:com|ses)/,
  "nix-shell": /^--(?:run|command)|^-E|^--expr/,
  nix: /^-[A-Za-z]*c$|^--(?:command|expr|impure)/,
  entr: /^-[A-Za-z]*s/,
  cargo: /^--config/,
  gh: /^(?:alias|codespace|config|cs|extension)$/,
  guix: /^-e/
}

/** Variables that hold a command, a text for a shell, or what makes a program run one. */
export const commandVariables =
  /PAGER$|EDITOR$|^VISUAL$|^GIT_(?:SSH|EXTERNAL_DIFF|CONFIG|ASKPASS|PROXY_COMMAND|EXEC_PATH|TRACE_SETUP|SEQUENCE|TEMPLATE)|ASKPASS$|^LESS(?:OPEN|CLOSE|KEY|$)|BROWSER$|^LD_|^DYLD_|^BASH_ENV$|^BASH_FUNC|^ENV$|^ZDOTDIR$|^PS\d$|^PROMPT_COMMAND$|^(?:PERL5|RUBY|NODE_)(?:OPT|LIB|DB)|^PYTHON(?:STARTUP|INSPECT|BREAKPOINT)|^MAKEFLAGS$|^RUSTC|^TAR_OPTIONS$|RSH$|^FZF_|^SHELL$|^(?:CC|CXX|LD)$|_COMMAND$|_CMD$|script_shell$|^IFS$|^(?:npm_config|NPM_CONFIG)_/

/** Of {@link handing}, those that take a text by other means than the value of an option. */
export const saying = set("apt apt-get docker gh gmake make mysql npm psql sqlite3 zip dpkg gcc")

/** Builtins that take names, which may have an index that runs. */
export const naming = set(
  "declare export getopts integer let local mapfile printf read readarray readonly test typeset unset wait ["
)

/** Builtins of which each word is arithmetic, to some shell. */
export const counting = /^(?:break|continue|exit|let|return|shift|test|ulimit|\[)$/

/** Builtins that keep a text for later, by the option that says so. */
export const keeping: { readonly [name: string]: RegExp } = {
  alias: /=/,
  bind: /^-[A-Za-z]*x/,
  compgen: /^-[A-Za-z]*[CWF]/,
  complete: /^-[A-Za-z]*[CWF]/,
  enable: /^-[A-Za-z]*f/,
  hash: /^-[A-Za-z]*p/,
  mapfile: /^-[A-Za-z]*C/,
  readarray: /^-[A-Za-z]*C/,
  // zsh's own `zf_rm`.
  zmodload: /./
}

/** Give what they read to a shell, where no program is named. */
export const serving = set(`
  adb chroot distrobox fakeroot lxc machinectl nix-shell nsenter oc pipenv poetry runcon runuser systemd-run toolbox unshare
  vagrant setarch linux32 linux64 i386 x86_64 uname26 prlimit setpriv capsh
`)

/** Of {@link handing}, those that carry out what they read, which may say to run a program. */
export const reading = set("mysql psql sqlite3")
