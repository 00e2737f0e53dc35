import { type Block, markOf } from '../memory/block.ts';
import type { Dialect, SaidLine } from '../content/content-tracker.ts';
import {
  SNAPSHOT_ANONYMOUS_STREAMS,
  SNAPSHOT_CALL_OWNERS,
  SNAPSHOT_LINES_PER_THREAD,
  SNAPSHOT_MESSAGES,
  SNAPSHOT_MESSAGES_PER_THREAD,
  SNAPSHOT_RETRACTABLE_LINES,
  SNAPSHOT_THREADS,
} from '../base/limits.ts';
import type { KnownMessage } from '../memory/message-memory.ts';
import { Thread } from '../threads/threads.ts';
import type { TranslatorState } from './translator-state.ts';
import type { TurnState } from './turn-tracker.ts';

/** The version of snapshots that this library writes and reads. */
export const SNAPSHOT_VERSION = 3;

/**
 * A translator's state between two lines, as a JSON value. Texts are in it as marks, so that 25 live agents fit into 64 KB;
 * what it remembers of the past (lines, calls, messages) is the newest part of what the translator remembers.
 */
export interface TranslatorSnapshot {
  version: number;
  seq: number;
  dialect: Dialect;
  turns: TurnState;
  nextStreamId: number;
  threads: SavedThread[];
  /** Call id, and the stream of the caller. */
  owners: [string, number][];
  requests: [string, number][];
  lines: (Omit<SaidLine, 'thread'> & { thread: number })[];
  drift: [string, number][];
}

interface SavedThread
  extends Pick<Thread, 'key' | 'streamId' | 'depth' | 'facts' | 'status' | 'runs' | 'runsBefore' | 'hasItems'> {
  /** The stream of the parent. */
  parent?: number | undefined;
  lines: number;
  anonymousBlocks: number;
  lineHashes: number[];
  messages: SavedMessage[];
  /** Index of the live message in `messages`, or -1. */
  live: number;
}

type SavedMessage = Omit<KnownMessage, 'blocks'> & { blocks: SavedBlock[] };

/** The fields of a block, its mark, and its id, text and value if present. */
type SavedBlock = [
  ...known: [kind: string, number: number, index: number, isOpen: number, isSettled: number, isSaid: number],
  ...mark: [length: number, h1: number, h2: number],
  id?: string | null,
  text?: string,
  value?: unknown,
];

/** A snapshot of the state. */
export function saveState(state: TranslatorState): TranslatorSnapshot {
  const { sink, threads, content, turns, requests } = state;
  const saved = [...threads.registry.all.values()].slice(-SNAPSHOT_THREADS);
  if (saved[0] !== threads.main) saved.unshift(threads.main);
  return structuredClone({
    version: SNAPSHOT_VERSION,
    seq: sink.seq,
    dialect: content.dialect,
    turns: turns.state,
    nextStreamId: threads.registry.nextStreamId,
    threads: saved.map((thread) => saveThread(thread, saved.length)),
    owners: toStreams(threads.registry.owners.newest(SNAPSHOT_CALL_OWNERS)),
    requests: toStreams([...requests]),
    lines: content.lines
      .slice(-SNAPSHOT_RETRACTABLE_LINES)
      .map(({ thread, ...line }) => ({ ...line, thread: thread.self.streamId })),
    drift: [...sink.drift],
  });
}

/** Restores the state of a snapshot. Throws for another version. */
export function restoreState(snapshot: TranslatorSnapshot, state: TranslatorState): void {
  if (snapshot.version !== SNAPSHOT_VERSION) {
    throw new RangeError(
      `Snapshot version ${snapshot.version}, but this library reads ${SNAPSHOT_VERSION}: update it, or translate again`,
    );
  }
  const { sink, threads, content, turns, requests } = state;
  const copy = structuredClone(snapshot);
  sink.seq = copy.seq;
  sink.drift = new Map(copy.drift);
  content.dialect = copy.dialect;
  turns.state = copy.turns;
  threads.registry.nextStreamId = copy.nextStreamId;
  const byStream = new Map(copy.threads.map(({ key, streamId }) => [streamId, new Thread(key, streamId)]));
  byStream.set(0, threads.main);
  // An agent that is too old for a snapshot may still be named in it: the main one stands in.
  const at = (streamId: number) => byStream.get(streamId) ?? threads.main;
  for (const saved of copy.threads) {
    const thread = at(saved.streamId);
    restoreThread(saved, thread, saved.parent === undefined ? undefined : at(saved.parent));
    threads.registry.restore(thread);
  }
  for (const [id, thread] of copy.owners) threads.registry.owners.set(id, at(thread));
  for (const [id, thread] of copy.requests) requests.set(id, at(thread));
  for (const line of copy.lines) content.lines.push({ ...line, thread: at(line.thread) });
}

function toStreams(threads: [string, Thread][]): [string, number][] {
  return threads.map(([id, thread]) => [id, thread.self.streamId]);
}

function saveThread({ memory, parent, ...own }: Thread, threads: number): SavedThread {
  const { lines, anonymousBlocks, live } = memory;
  // Where there are no ids of agents, all of them speak on the main thread: then more of its messages are live.
  const count = Math.max(SNAPSHOT_MESSAGES_PER_THREAD, SNAPSHOT_MESSAGES / threads);
  const messages = [...memory.newestMessages(count), ...memory.anonymous.slice(-SNAPSHOT_ANONYMOUS_STREAMS)];
  return {
    ...own,
    // A snapshot only records that the prompt is known: it was emitted.
    facts: { ...own.facts, ...(own.facts.prompt && { prompt: ' ' }) },
    lines,
    anonymousBlocks,
    parent: parent?.streamId,
    lineHashes: memory.seen.newest.slice(-SNAPSHOT_LINES_PER_THREAD),
    messages: messages.map(({ blocks, ...message }) => ({ ...message, blocks: blocks.map(saveBlock) })),
    live: live ? messages.indexOf(live) : -1,
  };
}

function restoreThread(saved: SavedThread, thread: Thread, parent: Thread | undefined): void {
  const { lines, anonymousBlocks, lineHashes, live, messages: savedMessages, ...own } = saved;
  Object.assign(thread, own, { parent });
  const messages = savedMessages.map((message) => ({ ...message, blocks: message.blocks.map(restoreBlock) }));
  Object.assign(thread.memory, { lines, anonymousBlocks, live: messages[live] });
  thread.memory.restore(messages);
  for (const hash of lineHashes) thread.memory.seen.add(hash);
}

/** A block as its mark. A call whose input still streams is parsed at its end, so its pieces are kept themselves. */
function saveBlock({ kind, id, number, index, open, settled, said, ...content }: Block): SavedBlock {
  const { length, h1, h2 } = markOf(content);
  const saved: SavedBlock = [kind, number, index, +open, +settled, +said, length, h1, h2];
  const whole = !said && content.value !== undefined;
  if (whole || id !== undefined) saved.push(id ?? null);
  if (whole) saved.push(content.text ?? '', content.value);
  return saved;
}

function restoreBlock([kind, number, index, open, settled, said, length, h1, h2, id, text, value]: SavedBlock): Block {
  const mark = value === undefined ? { length, h1, h2 } : null;
  return {
    kind,
    id: id ?? undefined,
    number,
    text: text ?? null,
    value,
    mark,
    index,
    open: !!open,
    settled: !!settled,
    said: !!said,
  };
}
