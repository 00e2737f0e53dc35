import { RecentMap } from '../base/collections/recent-map.ts';
import { type BoundedPattern, compileBounded } from '../base/bounded-pattern.ts';
import { ruleLimits } from './limits.ts';

/** Compiles the pattern of a rule about commands: `*` stands for any characters of a simple command, spaces included. */
export function compileCommand(pattern: string): BoundedPattern {
  return compileOnce(`^${pattern.split(/\*+/).map(escape).join('[A-Za-z0-9_./:=@%+, -]*')}$`);
}

/**
 * Compiles the pattern of a rule about paths. `*` stands for text within one name and `**` for any number of directories. Neither
 * stands for a name that begins with a dot, such as `.git` or `.env`.
 */
export function compilePath(pattern: string): BoundedPattern {
  const segments = pattern.split('/');
  const parts = segments.map((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === '**') return isLast ? `${NAME}(?:/${NAME})*` : `(?:${NAME}/)*`;
    return toName(segment) + (isLast ? '' : '/');
  });
  return compileOnce(`^${parts.join('')}$`);
}

/** To compile a pattern takes longer than to compare it, and each call is compared with every rule. */
function compileOnce(source: string): BoundedPattern {
  const known = compiled.get(source) ?? compileBounded(source);
  compiled.set(source, known);
  return known;
}

const compiled = new RecentMap<BoundedPattern>({ entriesMax: ruleLimits.compiledPatternsMax });

/** Whether a text is short enough to be compared with patterns. */
export function isComparable(text: string): boolean {
  return text.length <= ruleLimits.ruleSubjectCharsMax;
}

/** A name of a file or directory without a dot at its beginning. */
const NAME = '[^/.][^/]*';

function toName(segment: string): string {
  const [first = '', ...rest] = segment.split(/\*+/);
  // The class has one character: a pattern such as `*.ts` does not match the file `.ts`.
  if (first === '' && rest.length > 0) return `[^/.][^/]*${rest.map(escape).join('[^/]*')}`;
  return [first, ...rest].map(escape).join('[^/]*');
}

function escape(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_ /]/g, (char) => `\\${char}`);
}
