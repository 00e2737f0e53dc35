import { cutText, cutTextStart } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';
import { matchesOne, type Term } from '../model/search-query.ts';
import type { ShownRow } from '../model/summary.ts';
import type { WholeThread } from './collect-session.ts';
import type { Block } from './transcript.ts';

/** A place in a transcript that has what was looked for. */
export interface Hit {
  readonly row: ShownRow;
  readonly block: Block;
  /** What stands around it, on one line. */
  readonly excerpt: string;
}

/** In all these threads, as many as are shown. */
export function findInThreads(threads: readonly WholeThread[], terms: readonly Term[]): readonly Hit[] {
  const hits: Hit[] = [];
  for (const { row, blocks } of threads) {
    if (hits.length >= limits.hitsMax) break;
    for (const hit of findInBlocks(row, blocks, terms)) hits.push(hit);
  }
  return hits.slice(0, limits.hitsMax);
}

/** The blocks that fit all terms; those about the thread as a whole are asked of its row. */
function findInBlocks(row: ShownRow, blocks: readonly Block[], terms: readonly Term[]): readonly Hit[] {
  if (terms.length === 0) return [];
  return blocks.flatMap((block) => {
    const text = textOf(block);
    if (text === '' || !terms.every((term) => fits(row, block, text, term))) return [];
    const first = terms.find(({ type }) => type === 'text');
    return [{ row, block, excerpt: excerptOf(text, first?.type === 'text' ? first.text : '') }];
  });
}

function fits(row: ShownRow, block: Block, text: string, term: Term): boolean {
  switch (term.type) {
    case 'text':
      return lowerOf(block, text).includes(term.text);
    case 'tool':
      return block.type === 'call' && block.tool.toLowerCase().includes(term.text);
    case 'path':
      return block.type === 'call' && JSON.stringify(block.input).toLowerCase().includes(term.text);
    case 'is':
      return isIt(block, term.text);
    default:
      return matchesOne(row, term);
  }
}

function isIt(block: Block, word: string): boolean {
  if ('needs you'.startsWith(word) || 'asked'.startsWith(word)) return block.type === 'call' && block.asked;
  if ('denied'.startsWith(word)) return block.type === 'call' && block.verdict?.result === 'deny';
  if (!'error'.startsWith(word) && !'failed'.startsWith(word)) return false;
  if (block.type === 'call') return block.result?.isError === true;
  return (block.type === 'note' && block.tone === 'problem') || (block.type === 'request' && block.isError);
}

/** What a block says, as one text. */
function textOf(block: Block): string {
  switch (block.type) {
    case 'said':
    case 'text':
    case 'note':
      return block.text;
    case 'thread':
      return `${block.agent} ${block.text}`;
    case 'call':
      return `${block.tool} ${JSON.stringify(block.input)} ${block.result?.text ?? ''}`;
    case 'request':
      return block.isError ? `request ${block.number + 1} failed` : '';
    case 'thinking':
      return '';
  }
}

/** Somebody types letter by letter, and a session is long: each text is lowered once. */
const lowered = new WeakMap<Block, string>();
function lowerOf(block: Block, text: string): string {
  const known = lowered.get(block);
  if (known !== undefined) return known;
  const lower = text.toLowerCase();
  lowered.set(block, lower);
  return lower;
}

function excerptOf(text: string, wanted: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(wanted) - BEFORE);
  const cut = cutText(cutTextStart(text, text.length - at), EXCERPT)
    .replace(/\s+/g, ' ')
    .trim();
  return `${at > 0 ? '…' : ''}${cut}`;
}

const BEFORE = 40;
const EXCERPT = 160;
