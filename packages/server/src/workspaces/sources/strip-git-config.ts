/**
 * The text of a git configuration without credentials: user names, passwords and queries of URLs, headers and cookies of
 * requests, everything about credential helpers, and settings whose names say that they are secret. Other lines stay as
 * they are.
 */
export function stripGitConfig(text: string): string {
  let section = '';
  const kept: string[] = [];
  for (const line of toLogicalLines(text)) {
    const [, header = '', name, setting = line] = HEADER.exec(line) ?? [];
    if (name !== undefined) section = name.toLowerCase();
    const key = /^\s*([a-z][a-z0-9-]*)/i.exec(setting)?.[1]?.toLowerCase() ?? '';
    const isSecret = key !== '' && (section.split('.')[0] === 'credential' || SECRET_KEY.test(key));
    kept.push(withoutUrlCredentials(isSecret ? header : line));
  }
  return kept.join('\n');
}

/** A section header and the rest of its line: `[remote "origin"] url = …` is one line. */
const HEADER = /^(\s*\[\s*([a-z0-9.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\])(.*)$/is;

const SECRET_KEY = /extraheader|helper|cookie|pass|token|secret|askpass|sslkey|sshcommand/;

/** Joins lines that end with a backslash with the next line. */
function toLogicalLines(text: string): readonly string[] {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    if (isOpen) lines.push(`${lines.pop()!.replace(/\\\r?$/, '')}${line}`);
    else lines.push(line);
    isOpen = /(^|[^\\])(\\\\)*\\\r?$/.test(line);
  }
  return lines;
}

/** `https://user:token@host/path?key` becomes `https://host/path`, wherever it is in a line. */
function withoutUrlCredentials(line: string): string {
  return line.replaceAll(/([a-z][a-z0-9+.-]*:\/\/)([^/\s]*@)?([^\s"?#\]]*)([?#][^\s"\]]*)?/gi, '$1$3');
}
