import type { AgentCommand } from '@fleetloom/protocol/fleet';
import { sessionLimits } from '../limits.ts';
import { revealText, TAG, toShown } from './reveal-text.ts';

/**
 * Text commands that a thread has read in what others wrote: tool results, messages of other threads, attached documents.
 * A model that repeats such a line quotes it, so it is not run.
 */
export interface SeenCommands {
  readonly commands: Map<string, SeenCommand>;
  /** Number of commands read, repeated ones included: reading each takes time. */
  count: number;
  /** The end of the content that was read last: the next content may continue in the middle of a name. */
  tail: string;
  /** The limit was exceeded: no command counts as the model's own any more. */
  isFull: boolean;
}

/** One command that a thread has read. */
export interface SeenCommand {
  /** What follows `/agent`, letters and digits only, over the ends of lines. */
  readonly letters: string;
  /** How much of it is the agent's name, and how much is on the same line. */
  readonly nameLength: number;
  readonly lineLength: number;
  /** Not enough of the following text could be read, because there is too much between its words. */
  readonly isOpen: boolean;
  /** The content ended within the line. */
  readonly isCut: boolean;
}

/** The commands of a thread that has read none. */
export function noSeenCommands(): SeenCommands {
  return { commands: new Map(), count: 0, tail: '', isFull: false };
}

/** Records the text commands of content that others wrote. */
export function seeCommands(seen: SeenCommands, content: readonly unknown[]): void {
  if (seen.isFull) return;
  const text = seen.tail + stripInvisible(textsOf(content).join('\n')).toLowerCase();
  // The word itself may be written with escapes or within tags.
  const revealed = revealText(text);
  const counts = [seeIn(seen, text, seen.tail.length)];
  if (revealed !== text) counts.push(seeIn(seen, revealed, revealText(seen.tail).length));
  seen.count += Math.max(...counts);
  if (seen.count > sessionLimits.seenCommandsMax) return fill(seen);
  seen.tail = text.slice(-sessionLimits.seenCommandTailChars);
}

/** Adds the commands of a text, as long as there are not too many. Returns how many begin behind what was read before. */
function seeIn(seen: SeenCommands, text: string, readBefore: number): number {
  let count = 0;
  for (let at = text.indexOf(WORD); at !== -1; at = text.indexOf(WORD, at + 1)) {
    const slash = findSlash(text, at);
    if (slash === undefined) continue;
    if (at >= readBefore) count++;
    if (seen.count + count > sessionLimits.seenCommandsMax) return count;
    addSeen(seen, text, { from: at + WORD.length, before: text.charAt(slash - 1) });
  }
  return count;
}

/**
 * Whether the model has read this command elsewhere. Spaces, punctuation, case and escapes do not count, nor where the
 * line was cut: when in doubt it was read.
 */
export function isSeen(seen: SeenCommands, { agent, message }: Pick<AgentCommand, 'agent' | 'message'>): boolean {
  if (seen.isFull) return true;
  if (seen.commands.size === 0) return false;
  const beginning = message.slice(0, sessionLimits.seenCommandWindowChars / 2);
  const line = toLetters(`${agent} ${beginning.trimStart().split('\n', 1)[0]}`).slice(
    0,
    sessionLimits.seenCommandLetters,
  );
  const words = toWords(`${agent} ${beginning}`);
  const letters = words.join('');
  const ends = wordEnds(words);
  return [...seen.commands.values()].some((other) => {
    if (other.letters.startsWith(line)) return true;
    if (other.isOpen && letters.startsWith(other.letters)) return true;
    const isSaid = other.lineLength > other.nameLength && letters.startsWith(other.letters.slice(0, other.lineLength));
    // The command continues with the model's own words; a line that was cut may continue in the middle of a word.
    return isSaid && (other.isCut || ends.has(other.lineLength));
  });
}

const WORD = 'agent';

/** How a slash may be written in JSON, HTML and URLs. */
const SLASHES = ['/', '／', '&#47;', '&#x2f;', '&sol;', String.raw`\u002f`, '%2f'];

/** Where the slash before the word begins, if there is one. */
function findSlash(text: string, at: number): number | undefined {
  let end = at;
  while (end > 0 && at - end < SPACES_MAX && isBetween(text.charCodeAt(end - 1))) end--;
  const found = SLASHES.find((slash) => text.startsWith(slash, end - slash.length));
  return found === undefined ? undefined : end - found.length;
}

const SPACES_MAX = 16;

/** Spaces, and the punctuation of ASCII except the slash and the characters that end an escape. */
function isBetween(code: number): boolean {
  if (code <= 0x20 || code === 0xa0) return true;
  const isPunctuation = code < 0x30 || (code > 0x39 && code < 0x41) || (code > 0x5a && code < 0x61);
  return isPunctuation && code !== 0x2f && code !== 0x3b;
}

function fill(seen: SeenCommands): void {
  seen.isFull = true;
  seen.commands.clear();
}

/** As it stands there, as a page would show it, and up to the end of the quotation that begins with it. */
function addSeen({ commands }: SeenCommands, text: string, { from, before }: { from: number; before: string }): void {
  const to = from + sessionLimits.seenCommandWindowChars;
  const follows = text.slice(from, to);
  const closing = CLOSINGS.get(before);
  const variants = [follows, follows.replaceAll(TAG, toShown), closing && follows.replace(closing, '\n')];
  for (const variant of new Set(variants)) {
    if (variant === undefined) continue;
    const command = toSeen(variant, to >= text.length);
    commands.set(Object.values(command).join(' '), command);
  }
}

const CLOSINGS = new Map(
  ['``', '""', "''", '()', '[]', '**', '__', '“”', '«»', '‘’'].map(([open, close]) => [open, close]),
);

function toSeen(follows: string, isWhole: boolean): SeenCommand {
  const decoded = decode(follows);
  const [beginning = '', name = '', line = ''] = /^\s*(\S*)([^\n]*)/.exec(decoded) ?? [];
  const letters = toLetters(decoded);
  const lettersMax = sessionLimits.seenCommandLetters;
  return {
    letters: letters.slice(0, lettersMax),
    nameLength: Math.min(toLetters(name).length, lettersMax),
    lineLength: Math.min(toLetters(`${name} ${line}`).length, lettersMax),
    isOpen: !isWhole && letters.length < lettersMax,
    isCut: isWhole && beginning.length === decoded.length,
  };
}

function wordEnds(words: readonly string[]): Set<number> {
  const ends = new Set<number>();
  let length = 0;
  for (const word of words) ends.add((length += word.length));
  // Nothing behind this limit is known.
  return ends.add(sessionLimits.seenCommandLetters);
}

function toLetters(text: string): string {
  return toWords(text).join('');
}

function toWords(text: string): string[] {
  // Both, because some letters have several small forms, or a capital one of two letters.
  return decode(text).normalize('NFKC').toUpperCase().toLowerCase().split(SEPARATORS).filter(Boolean);
}

/** Everything but letters, digits and signs that are not ASCII, such as emoji. */
const SEPARATORS = /[^\p{L}\p{N}\p{M}\p{S}]+|[$+<=>^`|~]+/u;

/** Escapes of JSON and HTML. */
function decode(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})|\\([nrtbf])|&#x([0-9a-f]{1,6});|&#([0-9]{1,7});|&[a-z]{2,6};/gi, toDecoded);
}

function toDecoded(_: string, unit?: string, blank?: string, hex?: string, decimal?: string): string {
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
  if (blank !== undefined) return blank.toLowerCase() === 'n' ? '\n' : ' ';
  const point = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal);
  // The entities with names that pages use most are all punctuation.
  return point <= 0x10_ffff ? String.fromCodePoint(point) : ' ';
}

/** Without the colours of terminals, and characters that show nothing. */
function stripInvisible(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/\u001b\[[\d;]{0,32}[a-z]|\p{Cf}/giu, '');
}

/** Every text in a value, at any depth. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  const { type, ...fields } = value as { readonly type?: unknown };
  return type === 'base64' ? [] : Object.values(fields).flatMap(textsOf);
}
