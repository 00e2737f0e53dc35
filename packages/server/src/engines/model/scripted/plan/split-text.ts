import { Stride } from '../../../../base/in-slices.ts';
import { limits } from '../limits.ts';

/** The pieces in which a text is streamed: the requested number, by default its words. Joined they are the text. */
export function* splitText(text: string, chunks: number | undefined): Generator<void, string[]> {
  if (chunks === undefined) return yield* splitEvenly(text, yield* findWords(text), () => limits.chunksMax);
  return yield* splitEvenly(text, yield* findCharacters(text), () => chunks);
}

/** The pieces in which the input of a call is streamed. The API begins with an empty one. */
export function* splitJson(json: string): Generator<void, string[]> {
  const toCount = (characters: number) => Math.min(limits.chunksMax, Math.ceil(characters / JSON_PIECE_CHARS));
  return ['', ...(yield* splitEvenly(json, yield* findCharacters(json), toCount))];
}

const JSON_PIECE_CHARS = 32;

/** How many parts a text has, and where each begins. The part behind the last one begins at the end of the text. */
interface Parts {
  readonly count: number;
  readonly startOf: (part: number) => number;
}

/** Splits a text into words, each with the space behind it. Leading space is a part of its own. */
function* findWords(text: string): Generator<void, Parts> {
  const stride = new Stride();
  const starts = text === '' ? [] : [0];
  const border = /\s\S/g;
  for (let at = 0; border.test(text); ) {
    const start = border.lastIndex - 1;
    border.lastIndex = start;
    starts.push(start);
    if (stride.isOver(start - at)) yield;
    at = start;
  }
  return toParts(starts, text);
}

/** A character outside the basic plane is one part, and is never cut in two. */
function* findCharacters(text: string): Generator<void, Parts> {
  if (!/[\ud800-\udbff]/.test(text)) return { count: text.length, startOf: (part) => part };
  const starts: number[] = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) {
    starts.push(at);
    if (starts.length % CHARACTERS_AT_ONCE === 0) yield;
  }
  return toParts(starts, text);
}

const CHARACTERS_AT_ONCE = 4_096;

function toParts(starts: readonly number[], text: string): Parts {
  return { count: starts.length, startOf: (part) => starts[part] ?? text.length };
}

/** Joins whole parts to pieces, at most the requested number. */
function* splitEvenly(
  text: string,
  { count, startOf }: Parts,
  toWanted: (count: number) => number,
): Generator<void, string[]> {
  const stride = new Stride();
  const pieces = Math.min(toWanted(count), count);
  const edge = (piece: number) => startOf(Math.floor((piece * count) / pieces));
  const split: string[] = [];
  while (split.length < pieces) {
    split.push(text.slice(edge(split.length), edge(split.length + 1)));
    if (stride.isOver()) yield;
  }
  return split;
}
