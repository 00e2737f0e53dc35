/** The program's name of a model: `sonnet` for `claude-code/sonnet`. Null: the program chooses, as for `claude-code/default`. */
export function toProgramModelName(model: string): string | null {
  const name = model.slice(model.indexOf('/') + 1);
  return name === 'default' || name === '' ? null : name;
}
