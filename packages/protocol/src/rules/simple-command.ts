/**
 * A shell command in the one form that rules compare: a single program with plain words, separated by single spaces. Null for
 * all other text, because a shell could interpret it differently: operators, quotes, expansions, redirections, assignments,
 * comments, several lines, and every character outside of a short ASCII list.
 *
 * @example
 * toSimpleCommand(' npm  test '); // 'npm test'
 * toSimpleCommand('npm test; rm -rf x'); // null
 */
export function toSimpleCommand(text: string): string | null {
  if (!PLAIN.test(text)) return null;
  const words = text.split(' ').filter((word) => word !== '');
  const [program] = words;
  // `A=b npm` sets a variable, and zsh expands `=npm` to the path of a program.
  if (program === undefined || !PROGRAM.test(program) || words.some((word) => word.startsWith('='))) return null;
  return words.join(' ');
}

/** Whether a word is a path that `*` must not match: an absolute path, a URL or a path out of the directory. */
export function leavesDirectory(word: string): boolean {
  return word.includes('..') || /(?:^|[^A-Za-z0-9_.-])\//.test(word) || (word.startsWith('-') && word.includes('/'));
}

const PLAIN = /^[A-Za-z0-9_./:=@%+, -]*$/;
const PROGRAM = /^[A-Za-z0-9_./][A-Za-z0-9_./+-]*$/;
