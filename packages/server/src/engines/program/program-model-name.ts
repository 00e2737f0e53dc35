/** What a program calls its model: `claude-code/sonnet` is `sonnet`. Null: the program chooses, as for `claude-code/default`. */
export function toProgramModelName(model: string): string | null {
  const name = model.slice(model.indexOf('/') + 1);
  return name === 'default' || name === '' ? null : name;
}
