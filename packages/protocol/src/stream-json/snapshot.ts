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
import type { TurnState } from './turn-tracker.ts';

export const SNAPSHOT_VERSION = 2;

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
  /** Call id and stream of who made it. */
  owners: [string, number][];
  requests: [string, number][];
  /** Uuid, stream, message id, first block, end. */
  lines: [string, number, string | null, number, number][];
  drift: Record<string, number>;
}

interface SavedThread
  extends Pick<Thread, 'key' | 'streamId' | 'depth' | 'facts' | 'status' | 'runs' | 'runsBefore' | 'hasItems'> {
  /** Its stream. */
  parent?: number | undefined;
  lines: number;
  anonymousBlocks: number;
  lineHashes: number[];
  messages: SavedMessage[];
  /** Place of the live message in `messages`, or -1. */
  live: number;
}

type SavedMessage = Omit<KnownMessage, 'blocks'> & { blocks: SavedBlock[] };

/** What is known of the block, its mark, and where there are any: id, text, value. */
type SavedBlock = [
  ...known: [kind: string, number: number, index: number, isOpen: number, isSettled: number, isSaid: number],
  ...mark: [length: number, h1: number, h2: number],
  id?: string | null,
  text?: string,
  value?: unknown,
];

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
    owners: threads.registry.owners.newest(SNAPSHOT_CALL_OWNERS).map(([id, { streamId }]) => [id, streamId]),
    requests: [...requests].map(([id, { streamId }]) => [id, streamId]),
    lines: content
      .rememberedLines()
      .slice(-SNAPSHOT_RETRACTABLE_LINES)
      .map(({ uuid, thread, id, from, to }) => [uuid ?? '', thread.streamId, id ?? null, from, to]),
    drift: Object.fromEntries(sink.drift),
  });
}

export function restoreState(snapshot: TranslatorSnapshot, state: TranslatorState): void {
  if (snapshot.version !== SNAPSHOT_VERSION) {
    throw new RangeError(
      `Snapshot version ${snapshot.version}, but this library reads ${SNAPSHOT_VERSION}: update it, or translate again`,
    );
  }
  const { sink, threads, content, turns, requests } = state;
  const copy = structuredClone(snapshot);
  sink.seq = copy.seq;
  for (const [kind, count] of Object.entries(copy.drift)) sink.drift.set(kind, count);
  content.dialect = copy.dialect;
  turns.state = copy.turns;
  threads.registry.nextStreamId = copy.nextStreamId;
  const list = copy.threads.map(({ key, streamId, depth }) => new Thread(key, streamId, depth));
  const byStream = new Map([...list, threads.main].map((thread) => [thread.streamId, thread]));
  // An agent that is too old for a snapshot may still be named in it: the main one stands in.
  const at = (streamId: number) => byStream.get(streamId) ?? threads.main;
  for (const saved of copy.threads) {
    const thread = at(saved.streamId);
    restoreThread(saved, thread, saved.parent === undefined ? undefined : at(saved.parent));
    threads.registry.restore(thread);
  }
  for (const [id, thread] of copy.owners) threads.registry.owners.set(id, at(thread));
  for (const [id, thread] of copy.requests) requests.set(id, at(thread));
  for (const [uuid, thread, id, from, to] of copy.lines) {
    content.remember({ uuid, thread: at(thread), id: id ?? undefined, error: undefined, from, to });
  }
}

function saveThread({ memory, parent, ...own }: Thread, threads: number): SavedThread {
  const { lines, anonymousBlocks, live } = memory;
  // Where there are no ids of agents, all of them speak on the main thread: then more of its messages are live.
  const count = Math.max(SNAPSHOT_MESSAGES_PER_THREAD, SNAPSHOT_MESSAGES / threads);
  const messages = [...memory.newestMessages(count), ...memory.anonymous.slice(-SNAPSHOT_ANONYMOUS_STREAMS)];
  const facts = { ...own.facts };
  if (facts.prompt) facts.prompt = ' '; // it can be long, and has been said: only that it is known matters
  return {
    ...own,
    facts,
    lines,
    anonymousBlocks,
    parent: parent?.streamId,
    lineHashes: memory.seen.newest(),
    messages: messages.map((message) => ({ ...message, blocks: message.blocks.map(saveBlock) })),
    live: live ? messages.indexOf(live) : -1,
  };
}

function restoreThread(saved: SavedThread, thread: Thread, parent: Thread | undefined): void {
  const { lines, anonymousBlocks, lineHashes, live, messages: savedMessages, ...own } = saved;
  Object.assign(thread, own, { parent });
  const messages = savedMessages.map((message) => ({ ...message, blocks: message.blocks.map(restoreBlock) }));
  Object.assign(thread.memory, { lines, anonymousBlocks, live: messages[live] });
  thread.memory.restore(messages);
  thread.memory.seen.restore(lineHashes);
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
