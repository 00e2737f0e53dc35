import { type Block, markOf } from './block.ts';
import type { Dialect } from './content-tracker.ts';
import type { ThreadStatus } from './events.ts';
import {
  SNAPSHOT_ANONYMOUS_STREAMS,
  SNAPSHOT_CALL_OWNERS,
  SNAPSHOT_LINES_PER_THREAD,
  SNAPSHOT_MESSAGES_PER_THREAD,
  SNAPSHOT_RETRACTABLE_LINES,
  SNAPSHOT_THREADS,
} from './limits.ts';
import type { KnownMessage, MessageMemory } from './message-memory.ts';
import { type Run, Thread } from './threads.ts';
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

interface SavedThread {
  key: string;
  stream: number;
  parent?: number | undefined;
  depth: number;
  task?: string | undefined;
  call?: string | undefined;
  /** Which facts are known; the facts themselves have been said. */
  known: string[];
  background?: boolean | undefined;
  status: ThreadStatus;
  runs: Run[];
  hasItems: boolean;
  lines: number;
  anonymousBlocks: number;
  lineHashes: [number, number][];
  messages: SavedMessage[];
  /** Place of the live message in `messages`, or -1. */
  live: number;
}

interface SavedMessage {
  id?: string | undefined;
  streamed: boolean;
  line: number;
  forgotten: number;
  blocks: SavedBlock[];
}

/** Kind, number, length and hash of the content, stream index, flags, and where there are any: id, text, value. */
type SavedBlock = [string, number, number, number, number, number, number, (string | null)?, string?, unknown?];

const FACTS = ['agentType', 'description', 'prompt'] as const;

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
      `This snapshot has version ${snapshot.version}; this library reads version ${SNAPSHOT_VERSION}. ` +
        'Update @fleetloom/protocol, or translate the stream again from its start.',
    );
  }
  const { sink, threads, content, turns, requests } = state;
  sink.seq = snapshot.seq;
  for (const [kind, count] of Object.entries(snapshot.drift)) sink.drift.set(kind, count);
  content.dialect = snapshot.dialect;
  Object.assign(turns, structuredClone(snapshot.turns));
  threads.registry.nextStreamId = snapshot.nextStreamId;
  const list = snapshot.threads.map((saved, i) =>
    i === 0 ? threads.main : new Thread(saved.key, saved.stream, saved.depth),
  );
  // Numbers in a snapshot are written by saveState; the main agent stands in for one that is not there.
  const at = (i: number) => list[i] ?? threads.main;
  snapshot.threads.forEach((saved, i) => {
    restoreThread(saved, at(i), saved.parent === undefined ? undefined : at(saved.parent));
    threads.registry.restore(at(i));
  });
  for (const [id, thread] of snapshot.owners) threads.registry.owners.set(id, at(thread));
  for (const [id, thread] of snapshot.requests) requests.set(id, at(thread));
  for (const [uuid, thread, id, from, to] of snapshot.lines) {
    content.remember({ uuid, thread: at(thread), id: id ?? undefined, error: undefined, from, to });
  }
}

function saveThread(thread: Thread, numbers: Map<Thread, number>): SavedThread {
  const { memory } = thread;
  const messages = recentMessages(memory);
  return {
    key: thread.key,
    stream: thread.streamId,
    parent: thread.parent && numbers.get(thread.parent),
    depth: thread.depth,
    task: thread.taskId,
    call: thread.toolUseId,
    known: FACTS.filter((name) => thread[name] !== undefined),
    background: thread.background,
    status: thread.status,
    runs: structuredClone(thread.runs),
    hasItems: thread.hasItems,
    lines: memory.lines,
    anonymousBlocks: memory.anonymousBlocks,
    lineHashes: memory.newestLines(SNAPSHOT_LINES_PER_THREAD),
    messages: messages.map(saveMessage),
    live: memory.live ? messages.indexOf(memory.live) : -1,
  };
}

function restoreThread(saved: SavedThread, thread: Thread, parent: Thread | undefined): void {
  const { memory } = thread;
  thread.parent = parent;
  thread.taskId = saved.task;
  thread.toolUseId = saved.call;
  for (const name of FACTS) if (saved.known.includes(name)) thread[name] = '';
  thread.background = saved.background;
  thread.status = saved.status;
  thread.runs = structuredClone(saved.runs);
  thread.hasItems = saved.hasItems;
  memory.lines = saved.lines;
  memory.anonymousBlocks = saved.anonymousBlocks;
  const messages = saved.messages.map(restoreMessage);
  memory.restore(messages, saved.lineHashes);
  memory.live = messages[saved.live];
}

function recentMessages(memory: MessageMemory): KnownMessage[] {
  const named = memory.newestMessages(SNAPSHOT_MESSAGES_PER_THREAD);
  return [...named, ...memory.anonymous.slice(-SNAPSHOT_ANONYMOUS_STREAMS)];
}

function saveMessage({ id, streamed, lastLine, forgotten, blocks }: KnownMessage): SavedMessage {
  return { id, streamed, line: lastLine, forgotten, blocks: blocks.map(saveBlock) };
}

function restoreMessage({ id, streamed, line, forgotten, blocks }: SavedMessage): KnownMessage {
  return { id, streamed, lastLine: line, forgotten, blocks: blocks.map(restoreBlock) };
}

function saveBlock(block: Block): SavedBlock {
  const { length, h1, h2 } = markOf(block);
  const flags = (block.open ? 1 : 0) | (block.settled ? 2 : 0) | (block.said ? 4 : 0);
  const saved: SavedBlock = [block.kind, block.number, length, h1, h2, block.index, flags];
  if (block.id !== undefined) saved[7] = block.id;
  // A call whose input still streams is parsed at its end, so its pieces are needed themselves.
  if (!block.said && block.value !== undefined) {
    saved[7] ??= null;
    saved[8] = block.text ?? '';
    saved[9] = block.value;
  }
  return saved;
}

function restoreBlock([kind, number, length, h1, h2, index, flags, id, text, value]: SavedBlock): Block {
  return {
    kind,
    id: id ?? undefined,
    number,
    text: value === undefined ? null : (text ?? ''),
    value,
    mark: value === undefined ? { length, h1, h2 } : null,
    index,
    open: (flags & 1) !== 0,
    settled: (flags & 2) !== 0,
    said: (flags & 4) !== 0,
  };
}
