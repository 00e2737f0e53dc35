import { lineAt, scanSource } from './scan-source.mjs';

/**
 * The tests of a source: `it('…')`, `test('…')`, with modifiers, and those made from data, `it.each(rows)('…')`.
 * A title that is not a literal, or does not begin with one, is undefined. `runs` is false for skip and todo.
 */
export function findTestTitles(source) {
  const { code, literals } = scanSource(source);
  const titles = [];
  for (const match of code.matchAll(callPattern)) {
    const modifiers = match[1].split('.').map((modifier) => modifier.trim());
    if (!modifiers.every((modifier) => ofTests.has(modifier))) continue;
    const open = findArguments(code, literals, match.index + match[0].length);
    if (open === undefined) continue;
    const start = open + 1 + code.slice(open + 1).search(/\S/);
    const end = literals.get(start);
    titles.push({
      title: end === undefined ? undefined : source.slice(start + 1, end),
      line: lineAt(source, match.index),
      runs: !modifiers.includes('skip') && !modifiers.includes('todo'),
    });
  }
  return titles;
}

/** Ends where a call may begin. `function test(` and `/x/.test(` are something else. */
const callPattern = /(?<![.\w$]|function\s+)(?:it|test)((?:\s*\.\s*\w+)*)(?=\s*[(<`])/g;

/** The members of `it` that may precede a title. It has other members for hooks and fixtures, and other objects are also named `test`. */
const ofTests = new Set([
  '',
  'skip',
  'todo',
  'only',
  'each',
  'for',
  'concurrent',
  'sequential',
  'fails',
  'skipIf',
  'runIf',
]);

/** The opening parenthesis before the title: the last one of `each<Row>(rows)(` or of each`table`(. */
function findArguments(code, literals, from) {
  let position = skipSpaces(code, from);
  if (code[position] === '<') position = skipSpaces(code, closing(code, position, '<', '>') + 1);
  if (code[position] === '`') position = skipSpaces(code, literals.get(position) + 1);
  if (code[position] !== '(') return undefined;
  const next = skipSpaces(code, closing(code, position, '(', ')') + 1);
  return code[next] === '(' ? next : position;
}

function closing(code, from, open, close) {
  let depth = 0;
  for (let index = from; index < code.length; index += 1) {
    // The > of an arrow closes nothing.
    if (code[index] === close && code[index - 1] !== '=') depth -= 1;
    if (code[index] === open) depth += 1;
    if (depth === 0) return index;
  }
  return code.length;
}

function skipSpaces(code, from) {
  let index = from;
  while (index < code.length && /\s/.test(code[index])) index += 1;
  return index;
}
