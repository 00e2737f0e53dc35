import type { BytePath } from './objects/path-text.ts';

/** A `.gitignore` file: the directory it applies to (empty for the root), and its content. */
export interface IgnoreFile {
  readonly directory: BytePath;
  readonly content: string;
}

/**
 * One exclude file with the rules of many ignore files. Later rules win, so the user's own rules come first and the rules
 * of deeper directories last, as in git. The working tree's own `.gitignore` files are never read: an agent could hide its
 * changes with them.
 */
export function toExcludeFile(user: readonly string[], files: readonly IgnoreFile[]): string {
  const depth = ({ directory }: IgnoreFile) => (directory === '' ? 0 : directory.split('/').length);
  const sorted = files.toSorted((one, other) => depth(one) - depth(other));
  const lines = [...user.flatMap(toLines), ...sorted.flatMap(toRules), ...ALWAYS];
  return `${lines.join('\n')}\n`;
}

/** The path of the exclude file in a snapshot repository. The file is written once, when the workspace is opened. */
export const EXCLUDE_FILE = 'info/exclude-rules';

/** Files of the server, which are always ignored. */
const ALWAYS = ['/.fleetloom/'];

function toLines(content: string): string[] {
  return content.replace(/^\u00ef\u00bb\u00bf/, '').split('\n');
}

/** The rules of an ignore file, rewritten for the root directory. */
function toRules({ directory, content }: IgnoreFile): string[] {
  if (directory === '') return toLines(content);
  // A rule cannot name a directory with a line feed, so its ignore file has no effect.
  if (directory.includes('\n')) return [];
  const prefix = `/${directory.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}`;
  return toLines(content).flatMap((line) => {
    const rule = line.replace(/\r$/, '');
    if (rule.trim() === '' || rule.startsWith('#')) return [];
    const sign = rule.startsWith('!') ? '!' : '';
    const pattern = rule.slice(sign.length).replace(/^\\(?=[#!])/, '');
    // A pattern with a slash before its end is anchored to this directory; any other pattern matches at every depth.
    const isAnchored = pattern.replace(/\/\s*$/, '').includes('/');
    return [`${sign}${prefix}${isAnchored ? `/${pattern.replace(/^\//, '')}` : `/**/${pattern}`}`];
  });
}
