import type { Words } from './words.ts';

/** Shells that have a completion script. */
export const shells = ['bash', 'zsh', 'fish', 'pwsh'] as const;
/** One of the shells. */
export type Shell = (typeof shells)[number];

/** The completion script of a shell: offers commands, options and their values, ids of the server, otherwise files. */
export function toCompletionScript(shell: Shell, words: readonly Words[]): string {
  return writers[shell](words);
}

const writers: Record<Shell, (words: readonly Words[]) => string> = { bash, zsh, fish, pwsh };

function bash(words: readonly Words[]): string {
  return `# fleetloom completion for bash: source <(fleetloom completion bash)
_fleetloom() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path/$word" in
${paths(words)
  .map((path) => `      "${toSlashes(path)}") path="${toSlashes(path)}" ;;`)
  .join('\n')}
    esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${valueCases(words, (path, option, values) => `    "${path === '' ? '' : toSlashes(path)} ${option}") COMPREPLY=($(compgen -W "${values.join(' ')}" -- "$cur")); return ;;`)}
  esac
  case "$path" in
${words.map(({ path, commands, options }) => `    "${path === '' ? '' : toSlashes(path)}") COMPREPLY=($(compgen -W "${texts(commands, options)}" -- "$cur")) ;;`).join('\n')}
  esac
  local kind=""
  case "$path" in
${idCases(words, (path, kind) => `    "${path}") kind=${kind} ;;`)}
  esac
  if [ -n "$kind" ] && [[ "$cur" != -* ]]; then
    COMPREPLY+=($(compgen -W "$("\${COMP_WORDS[0]}" __ids "$kind" "$cur" 2>/dev/null | cut -f1)" -- "$cur"))
  fi
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _fleetloom fleetloom
`;
}

function zsh(words: readonly Words[]): string {
  return `#compdef fleetloom
# fleetloom completion for zsh: source <(fleetloom completion zsh)
_fleetloom() {
  local path="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$path/$word" in
${paths(words)
  .map((path) => `      ("${toSlashes(path)}") path="${toSlashes(path)}" ;;`)
  .join('\n')}
    esac
  done
  case "$path \${words[CURRENT-1]}" in
${valueCases(words, (path, option, values) => `    ("${path === '' ? '' : toSlashes(path)} ${option}") compadd -- ${values.join(' ')}; return ;;`)}
  esac
  local -a items
  case "$path" in
${words
  .map(({ path, commands, options }) => {
    const items = [...commands, ...options].map(({ text, description }) => quoted(`${text}:${plain(description)}`));
    return `    ("${path === '' ? '' : toSlashes(path)}") items=(${items.join(' ')}) ;;`;
  })
  .join('\n')}
  esac
  local kind="" line
  case "$path" in
${idCases(words, (path, kind) => `    ("${path}") kind=${kind} ;;`)}
  esac
  if [[ -n "$kind" ]]; then
    for line in "\${(@f)$("\${words[1]}" __ids "$kind" "\${words[CURRENT]}" 2>/dev/null)}"; do
      [[ -n "$line" ]] && items+=("\${line%%$'\\t'*}:\${\${line#*$'\\t'}//:/ }")
    done
  fi
  _describe 'fleetloom' items
  _files
}
compdef _fleetloom fleetloom
`;
}

function fish(words: readonly Words[]): string {
  const lines = words.flatMap(({ path, commands, options, ids }) => {
    const when = `-n ${quoted(path === '' ? '__fish_use_subcommand' : `__fleetloom_in ${path}`)}`;
    const list = `fleetloom __ids ${ids ?? ''} (commandline -ct) 2>/dev/null`;
    return [
      ...(ids === undefined ? [] : [`complete -c fleetloom ${when} -f -a '(${list})'`]),
      ...commands.map(
        ({ text, description }) => `complete -c fleetloom ${when} -f -a ${text} -d ${quoted(plain(description))}`,
      ),
      ...options.map(({ text, description, takes }) => {
        const value = takes === 'nothing' ? '' : takes === 'anything' ? ' -r' : ` -x -a ${quoted(takes.join(' '))}`;
        return `complete -c fleetloom ${when} -l ${text.replace(/^--/, '')}${value} -d ${quoted(plain(description))}`;
      }),
    ];
  });
  return `# fleetloom completion for fish: fleetloom completion fish | source
function __fleetloom_in
  set -l words (commandline -opc)
  test (count $words) -gt (count $argv); and test "$words[2..(math (count $argv) + 1)]" = "$argv"
end
${lines.join('\n')}
`;
}

function pwsh(words: readonly Words[]): string {
  const table = words.map(({ path, commands, options }) => {
    const items = [...commands, ...options].map(({ text }) => `'${text}'`);
    return `    '${path}' = @(${items.join(', ')})`;
  });
  return `# fleetloom completion for PowerShell: fleetloom completion pwsh | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName fleetloom -ScriptBlock {
  param($word, $ast, $position)
  $table = @{
${table.join('\n')}
  }
  $path = ''
  foreach ($each in $ast.CommandElements | Select-Object -Skip 1) {
    $next = ("$path " + $each.ToString()).Trim()
    if ($table.ContainsKey($next)) { $path = $next }
  }
  $kinds = @{
${words.flatMap(({ path, ids }) => (ids === undefined ? [] : [`    '${path}' = '${ids}'`])).join('\n')}
  }
  $found = @($table[$path])
  if ($kinds.ContainsKey($path) -and -not $word.StartsWith('-')) {
    $found += @(& $ast.CommandElements[0].ToString() __ids $kinds[$path] $word 2>$null | ForEach-Object { ($_ -split "\`t")[0] })
  }
  $found | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

function paths(words: readonly Words[]): readonly string[] {
  return words.map(({ path }) => path).filter((path) => path !== '');
}

/** `agents apply` becomes `/agents/apply`. */
function toSlashes(path: string): string {
  return `/${path.replaceAll(' ', '/')}`;
}

function valueCases(
  words: readonly Words[],
  line: (path: string, option: string, values: readonly string[]) => string,
): string {
  return words
    .flatMap(({ path, options }) =>
      options.flatMap(({ text, takes }) => (typeof takes === 'string' ? [] : [line(path, text, takes)])),
    )
    .join('\n');
}

function idCases(words: readonly Words[], line: (path: string, kind: string) => string): string {
  return words.flatMap(({ path, ids }) => (ids === undefined ? [] : [line(toSlashes(path), ids)])).join('\n');
}

function texts(commands: Words['commands'], options: Words['options']): string {
  return [...commands, ...options].map(({ text }) => text).join(' ');
}

/** Removes characters that have a meaning in one of the shells. */
function plain(description: string): string {
  return description.replaceAll(/[`'"$\\]/g, '').replaceAll(':', ',');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '')}'`;
}
