import { type Block, markOf } from './block.ts';
import type { Dialect } from './content-tracker.ts';
import {
  SNAPSHOT_ANONYMOUS_STREAMS,
  SNAPSHOT_CALL_OWNERS,
  SNAPSHOT_MESSAGES,
  SNAPSHOT_MESSAGES_PER_THREAD,
  SNAPSHOT_RETRACTABLE_LINES,
  SNAPSHOT_THREADS,
} from './limits.ts';
import type { KnownMessage } from './message-memory.ts';
import { Thread } from './threads.ts';
import type { TranslatorState } from './translator.ts';
import type { Totals } from './turn-tracker.ts';

export const SNAPSHOT_VERSION = 1;

/**
 * A translator's state between two lines, as a JSON value. Texts are in it as marks, so that 25 live agents fit into 64 KB;
 * what it remembers of the past (lines, calls, messages) is the newest part of what the translator remembers.
 */
export interface TranslatorSnapshot {
  version: number;
  seq: number;
  dialect: Dialect;
  turns: {
    sessionId?: string | undefined;
    model?: string | undefined;
    next: number;
    open: number[];
    resultIndex?: number | undefined;
    totals: Totals;
  };
  nextStreamId: number;
  threads: SavedThread[];
  /** Call id and number of the thread in `threads`. */
  owners: [string, number][];
  requests: [string, number][];
  /** Uuid, thread, message id, first block, end. */
  lines: [string, number, string | null, number, number][];
  drift: Record<string, number>;
}

interface SavedThread extends Pick<Thread, 'key' | 'streamId' | 'depth' | 'facts' | 'status' | 'runs' | 'hasItems'> {
  parent?: number | undefined;
  lines: number;
  anonymousBlocks: number;
  lineHashes: number[];
  messages: SavedMessage[];
  /** Place of the live message in `messages`, or -1. */
  live: number;
}

type SavedMessage = Omit<KnownMessage, 'blocks'> & { blocks: SavedBlock[] };

/** Kind, number, length and two hashes of the content, stream index, flags, and where there are any: id, text, value. */
type SavedBlock = [string, number, number, number, number, number, number, (string | null)?, string?, unknown?];

export function saveState(state: TranslatorState): TranslatorSnapshot {
  const { sink, threads, content, turns, requests } = state;
  const saved = [...threads.registry.all.values()].slice(-SNAPSHOT_THREADS);
  if (saved[0] !== threads.main) saved.unshift(threads.main);
  const numbers = new Map(saved.map((thread, i) => [thread, i]));
  const numberOf = (thread: Thread) => numbers.get(thread) ?? 0;
  return {
    version: SNAPSHOT_VERSION,
    seq: sink.seq,
    dialect: content.dialect,
    turns: {
      sessionId: turns.sessionId,
      model: turns.model,
      next: turns.next,
      open: [...turns.open],
      resultIndex: turns.resultIndex,
      totals: structuredClone(turns.totals),
    },
    nextStreamId: threads.registry.nextStreamId,
    threads: saved.map((thread) => saveThread(thread, numbers)),
    owners: threads.registry.owners.newest(SNAPSHOT_CALL_OWNERS).map(([id, t]) => [id, numberOf(t)]),
    requests: [...requests].map(([id, thread]) => [id, numberOf(thread)]),
    lines: content
      .rememberedLines()
      .slice(-SNAPSHOT_RETRACTABLE_LINES)
      .map(({ uuid, thread, id, from, to }) => [uuid ?? '', numberOf(thread), id ?? null, from, to]),
    drift: Object.fromEntries(sink.drift),
  };
}

export function restoreState(snapshot: TranslatorSnapshot, state: TranslatorState): void {
  if (snapshot.version !== SNAPSHOT_VERSION) {
    throw new RangeError(
      `Snapshot version ${snapshot.version}, but this library reads ${SNAPSHOT_VERSION}: update it, or translate the stream again`,
    );
  }
  const { sink, threads, content, turns, requests } = state;
  const copy = structuredClone(snapshot);
  sink.seq = copy.seq;
  for (const [kind, count] of Object.entries(copy.drift)) sink.drift.set(kind, count);
  content.dialect = copy.dialect;
  Object.assign(turns, copy.turns);
  threads.registry.nextStreamId = copy.nextStreamId;
  const list = copy.threads.map((saved, i) =>
    i === 0 ? threads.main : new Thread(saved.key, saved.streamId, saved.depth),
  );
  // Numbers in a snapshot are written by saveState; the main agent stands in for one that is not there.
  const at = (i: number) => list[i] ?? threads.main;
  copy.threads.forEach((saved, i) => {
    restoreThread(saved, at(i), saved.parent === undefined ? undefined : at(saved.parent));
    threads.registry.restore(at(i));
  });
  for (const [id, thread] of copy.owners) threads.registry.owners.set(id, at(thread));
  for (const [id, thread] of copy.requests) requests.set(id, at(thread));
  for (const [uuid, thread, id, from, to] of copy.lines) {
    content.remember({ uuid, thread: at(thread), id: id ?? undefined, error: undefined, from, to });
  }
}

function saveThread(thread: Thread, numbers: Map<Thread, number>): SavedThread {
  const { key, streamId, depth, status, runs, hasItems, memory, parent } = thread;
  const { lines, anonymousBlocks, live } = memory;
  // Where there are no ids of agents, all of them speak on the main thread: then more of its messages are live.
  const count = Math.max(SNAPSHOT_MESSAGES_PER_THREAD, SNAPSHOT_MESSAGES / numbers.size);
  const messages = [...memory.newestMessages(count), ...memory.anonymous.slice(-SNAPSHOT_ANONYMOUS_STREAMS)];
  const facts = { ...thread.facts };
  if (facts.prompt) facts.prompt = ' '; // it can be long, and has been said: only that it is known matters
  return {
    key,
    streamId,
    depth,
    status,
    runs: structuredClone(runs),
    hasItems,
    facts,
    lines,
    anonymousBlocks,
    parent: parent && numbers.get(parent),
    lineHashes: memory.newestLines(),
    messages: messages.map((message) => ({ ...message, blocks: message.blocks.map(saveBlock) })),
    live: live ? messages.indexOf(live) : -1,
  };
}

function restoreThread(saved: SavedThread, thread: Thread, parent: Thread | undefined): void {
  const { depth, status, runs, hasItems, facts, lines, anonymousBlocks, lineHashes, live } = saved;
  Object.assign(thread, { depth, status, runs, hasItems, facts, parent });
  const messages = saved.messages.map((message) => ({ ...message, blocks: message.blocks.map(restoreBlock) }));
  Object.assign(thread.memory, { lines, anonymousBlocks, live: messages[live] });
  thread.memory.restore(messages, lineHashes);
}

/** A block as its mark. A call whose input still streams is parsed at its end, so its pieces are kept themselves. */
function saveBlock({ open, settled, said, ...block }: Block): SavedBlock {
  const { length, h1, h2 } = markOf(block);
  const flags = (open ? 1 : 0) | (settled ? 2 : 0) | (said ? 4 : 0);
  const saved: SavedBlock = [block.kind, block.number, length, h1, h2, block.index, flags];
  const whole = !said && block.value !== undefined;
  if (whole || block.id !== undefined) saved.push(block.id ?? null);
  if (whole) saved.push(block.text ?? '', block.value);
  return saved;
}

function restoreBlock([kind, number, length, h1, h2, index, flags, id, text, value]: SavedBlock): Block {
  return {
    kind,
    id: id ?? undefined,
    number,
    text: text ?? null,
    value,
    mark: value === undefined ? { length, h1, h2 } : null,
    index,
    open: (flags & 1) !== 0,
    settled: (flags & 2) !== 0,
    said: (flags & 4) !== 0,
  };
}
