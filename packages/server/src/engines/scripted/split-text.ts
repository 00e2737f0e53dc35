import { limits } from './limits.ts';

/** The pieces in which a text is streamed: as many as asked for, by default its words. Joined they are the text. */
export function splitText(text: string, chunks: number | undefined): string[] {
  if (chunks !== undefined) return splitEvenly(Array.from(text), chunks);
  return splitEvenly(text.match(/\S+\s*|\s+/g) ?? [], limits.chunksMax);
}

/** The pieces in which the input of a call is streamed. The API begins with an empty one. */
export function splitJson(json: string): string[] {
  const characters = Array.from(json);
  return ['', ...splitEvenly(characters, Math.min(limits.chunksMax, Math.ceil(characters.length / JSON_PIECE_CHARS)))];
}

const JSON_PIECE_CHARS = 32;

/** At most `count` pieces of whole parts: a character outside the basic plane is one part, and is never cut in two. */
function splitEvenly(parts: readonly string[], count: number): string[] {
  const pieces = Math.min(count, parts.length);
  const edge = (piece: number) => Math.floor((piece * parts.length) / pieces);
  return Array.from({ length: pieces }, (_, piece) => parts.slice(edge(piece), edge(piece + 1)).join(''));
}
