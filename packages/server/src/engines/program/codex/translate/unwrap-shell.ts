/**
 * Extracts the command of the model from the command line that Codex prints: `/bin/bash -lc 'echo a'` becomes `echo a`. A
 * command line of another form is returned as it is.
 */
export function unwrapShell(commandLine: string): string {
  const words = splitWords(commandLine);
  const [shell = '', flag = '', command, ...rest] = words ?? [];
  const isShell = /(?:^|\/)(?:ba|z|da|k)?sh$/.test(shell) && /^-l?c$/.test(flag);
  return isShell && command !== undefined && rest.length === 0 ? command : commandLine;
}

/** The words of a command line that was quoted for a POSIX shell; null if a quotation is not closed. */
function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let word: string | undefined;
  let quote: "'" | '"' | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (quote === "'") {
      if (char === "'") quote = undefined;
      else word += char;
    } else if (char === '\\' && (quote === undefined || ESCAPED_IN_DOUBLE.has(line[at + 1] ?? ''))) {
      word = (word ?? '') + (line[++at] ?? '');
    } else if (quote === '"') {
      if (char === '"') quote = undefined;
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) return null;
  return word === undefined ? words : [...words, word];
}

const ESCAPED_IN_DOUBLE = new Set(['"', '\\', '$', '`']);
