import type { BytePath } from './objects/path-text.ts';

/** A `.gitignore` file: the directory it applies to (empty for the root), and its content. */
export interface IgnoreFile {
  readonly directory: BytePath;
  readonly content: string;
}

/**
 * One exclude file with the rules of many ignore files. Rules that come later win, so the user's own come first and the rules
 * of deeper directories last, as in git. The working tree's own `.gitignore` files are never read: an agent could hide its
 * changes with them.
 */
export function toExcludeFile(user: readonly string[], files: readonly IgnoreFile[]): string {
  const depth = ({ directory }: IgnoreFile) => (directory === '' ? 0 : directory.split('/').length);
  const sorted = files.toSorted((one, other) => depth(one) - depth(other));
  const lines = [...user.flatMap(toLines), ...sorted.flatMap(toRules), ...ALWAYS];
  return `${lines.join('\n')}\n`;
}

/** The exclude file of a snapshot repository, from its directory on. It is written once, when the workspace is opened. */
export const EXCLUDE_FILE = 'info/exclude-rules';

/** Files of ours, not of the agents. */
const ALWAYS = ['/.fleetloom/'];

function toLines(content: string): string[] {
  return content.replace(/^\u00ef\u00bb\u00bf/, '').split('\n');
}

/** The rules as if they stood in the root directory. */
function toRules({ directory, content }: IgnoreFile): string[] {
  if (directory === '') return toLines(content);
  // A rule cannot name a directory with a line feed. What is in there is recorded instead.
  if (directory.includes('\n')) return [];
  const prefix = `/${directory.replaceAll(/[\\*?[\]]/g, String.raw`\$&`)}`;
  return toLines(content).flatMap((line) => {
    const rule = line.replace(/\r$/, '');
    if (rule.trim() === '' || rule.startsWith('#')) return [];
    const sign = rule.startsWith('!') ? '!' : '';
    const pattern = rule.slice(sign.length).replace(/^\\(?=[#!])/, '');
    // A pattern with a slash before its end belongs to this directory; one without matches at every depth.
    const isAnchored = pattern.replace(/\/\s*$/, '').includes('/');
    return [`${sign}${prefix}${isAnchored ? `/${pattern.replace(/^\//, '')}` : `/**/${pattern}`}`];
  });
}
