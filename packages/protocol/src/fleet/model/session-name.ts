import { cutText } from '../../text/cut-text.ts';
import { limits } from './limits.ts';

/**
 * The name of a session: its title, or the first words of its first message. It stays the same while the session runs, and is never
 * an id.
 *
 * @example
 * toSessionName({ title: null, firstMessage: 'Fix the flaky test\nin queue.js' }); // 'Fix the flaky test in queue.js'
 */
export function toSessionName({
  title,
  firstMessage,
}: {
  readonly title: string | null;
  readonly firstMessage: string | null;
}): string {
  return oneLine(title) || oneLine(firstMessage) || UNNAMED;
}

/** The name of a session without a title and a message. */
const UNNAMED = 'New session';

function oneLine(text: string | null): string {
  // The text is cut first: a message may have megabytes.
  const line = cutText(text ?? '', 4 * limits.sessionNameCharsMax)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= limits.sessionNameCharsMax) return line;
  const cut = cutText(line, limits.sessionNameCharsMax - 1);
  const end = cut.lastIndexOf(' ');
  // A long word, such as a URL, is cut at the limit.
  return `${(end > limits.sessionNameCharsMax / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}
