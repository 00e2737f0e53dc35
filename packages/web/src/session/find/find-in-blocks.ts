import { cutText, cutTextStart } from '@fleetloom/protocol/fleet';
import { sessionLimits } from '../transcript/limits.ts';
import { matchesOne, type Term } from '../../model/search-query.ts';
import type { ShownRow } from '../../model/summary.ts';
import type { WholeThread } from '../transcript/collect-session.ts';
import type { Block } from '../transcript/blocks.ts';

/** A block that matches a search. */
export interface Hit {
  readonly row: ShownRow;
  readonly block: Block;
  /** The text around the match, on one line. */
  readonly excerpt: string;
}

/** Searches these threads; at most `sessionLimits.hitsMax` hits. */
export function findInThreads(threads: readonly WholeThread[], terms: readonly Term[]): readonly Hit[] {
  const hits: Hit[] = [];
  for (const { row, blocks } of threads) {
    if (hits.length >= sessionLimits.hitsMax) break;
    for (const hit of findInBlocks(row, blocks, terms)) hits.push(hit);
  }
  return hits.slice(0, sessionLimits.hitsMax);
}

/** The blocks that match all terms. Terms about the whole thread, such as `agent:`, are matched with its row. */
function findInBlocks(row: ShownRow, blocks: readonly Block[], terms: readonly Term[]): readonly Hit[] {
  if (terms.length === 0) return [];
  return blocks.flatMap((block) => {
    const text = textOf(block);
    if (text === '' || !terms.every((term) => matchesTerm(row, block, text, term))) return [];
    const first = terms.find(({ type }) => type === 'text');
    return [{ row, block, excerpt: excerptOf(text, first?.type === 'text' ? first.text : '') }];
  });
}

function matchesTerm(row: ShownRow, block: Block, text: string, term: Term): boolean {
  switch (term.type) {
    case 'text':
      return lowerOf(block, text).includes(term.text);
    case 'tool':
      return block.type === 'call' && block.tool.toLowerCase().includes(term.text);
    case 'path':
      return block.type === 'call' && JSON.stringify(block.input).toLowerCase().includes(term.text);
    case 'is':
      return hasState(block, term.text);
    default:
      return matchesOne(row, term);
  }
}

function hasState(block: Block, word: string): boolean {
  if ('needs you'.startsWith(word) || 'asked'.startsWith(word)) return block.type === 'call' && block.asked;
  if ('denied'.startsWith(word)) return block.type === 'call' && block.verdict?.result === 'deny';
  if (!'error'.startsWith(word) && !'failed'.startsWith(word)) return false;
  if (block.type === 'call') return block.result?.isError === true;
  return (block.type === 'note' && block.tone === 'problem') || (block.type === 'request' && block.isError);
}

/** The searchable text of a block. */
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
      return block.isError ? `request ${block.shownNumber} failed` : '';
    case 'thinking':
      return '';
  }
}

/** Searches run with every typed letter over long sessions, so each text is converted to lower case once. */
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
