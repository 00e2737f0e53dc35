import { identifier, text, toJson } from '../base/check.ts';
import type { WireBlock } from '../wire/messages.ts';
import { extendMark, markText, startsWithMark, type TextMark } from '../base/text-mark.ts';

/**
 * One content block as the translator remembers it: enough to know whether a later line repeats it, lets it grow, or
 * changes it. A recent block keeps its value; an old or restored one only its mark.
 */
export class Block {
  /** The wire's block type. */
  declare kind: string;
  /** Id of a tool call: the strongest identity of a block. */
  declare id: string | undefined;
  /** The number of the block in events (`block`). */
  declare number: number;
  /** Text or thinking so far, for a streamed tool call the JSON text of its input. Null when only the mark is kept. */
  declare text: string | null;
  /** Value of a block that is neither text nor thinking, as last seen. Undefined when only the mark is kept. */
  declare value: unknown;
  declare mark: TextMark | null;
  /** Index in the Messages API stream; -1 for a block that came as a whole line. */
  index = -1;
  /** Whether the block is being streamed, without its content_block_stop yet. */
  open = false;
  /** Whether a whole line has confirmed the block. */
  settled = true;
  /** Whether at least one event has the block, so that an empty block is emitted once too. */
  said = false;

  constructor(wire: WireBlock, number: number) {
    this.number = number;
    updateBlock(this, wire);
  }
}

/** The text of a text or thinking block; undefined for every other kind. */
export function textOf(wire: WireBlock): string | undefined {
  if (wire.type === 'text') return text(wire.text) ?? '';
  // Older documentation has the text of thinking in `text`.
  return wire.type === 'thinking' ? (text(wire.thinking ?? wire.text) ?? '') : undefined;
}

/** Whether `wire` can be the same block at all. */
export function sameIdentity(block: Block, wire: WireBlock): boolean {
  return block.kind === wire.type && block.id === identifier(wire.id);
}

/** The text that was added to the block: '' if it is the same, undefined if it is another block or its content changed. */
export function growthOf(block: Block, wire: WireBlock): string | undefined {
  if (!sameIdentity(block, wire)) return undefined;
  const said = textOf(wire);
  if (said === undefined) return sameValue(block, wire) ? '' : undefined;
  const known = block.text;
  if (known === said) return '';
  const length = known === null ? (block.mark?.length ?? 0) : known.length;
  // slice and compare instead of startsWith: V8 compares flat strings several times faster that way.
  const grown = known === null ? startsWithMark(said, block.mark ?? NOTHING) : said.slice(0, length) === known;
  return grown ? said.slice(length) : undefined;
}

/** Replaces the known content by a whole block. */
export function updateBlock(block: Block, wire: WireBlock): void {
  const said = textOf(wire);
  block.kind = wire.type;
  block.id = identifier(wire.id);
  block.text = said ?? null;
  block.value = said === undefined ? wire : undefined;
  block.mark = null;
}

/** Appends streamed text. */
export function growBlock(block: Block, more: string): void {
  if (block.text === null) block.mark = extendMark(block.mark ?? NOTHING, more);
  else block.text += more;
}

/** Drops the content and keeps the mark. */
export function forgetContent(block: Block): void {
  block.mark = markOf(block);
  block.text = null;
  block.value = undefined;
}

/** The mark of a block's content. */
export function markOf(block: Pick<Block, 'mark' | 'text' | 'value'>): TextMark {
  if (block.mark) return block.mark;
  return markText(block.text ?? toJson(block.value));
}

const NOTHING = markText('');

/** Two whole values of a block that has no text, e.g. a tool call: order of keys matters, as it does on the wire. */
function sameValue(block: Block, wire: WireBlock): boolean {
  if (block.value === undefined && block.mark === null) return false;
  const json = toJson(wire);
  if (block.value !== undefined) return json === toJson(block.value);
  return startsWithMark(json, markOf(block)) && json.length === markOf(block).length;
}
