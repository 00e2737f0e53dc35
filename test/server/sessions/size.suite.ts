import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchLoop } from '../../../packages/server/src/base/watch-loop.suite.ts';
import { DEFAULT_WORKSPACE } from '../../../packages/server/src/keys/credential.ts';
import { connectTo } from '../../../packages/server/src/http/routes/fleet.suite.ts';
import { runKey } from '../../../packages/server/src/frames/run-key.ts';
import { type FleetloomServer, type ServerOptions, startOn } from '../../../packages/server/src/server.ts';
import { encodeFrame, type EncodedFrame, type NewFrame } from '../../../packages/server/src/store/frame.ts';
import { openSqliteStore } from '../../../packages/server/src/store/sqlite/sqlite-store.ts';
import type { ReadRequest, Store } from '../../../packages/server/src/store/store.ts';
import { commitOne, type Write } from '../../../packages/server/src/store/write.ts';

// A server on a large database. The database is written directly, because running agents for it would take hours.

export interface SizeServer extends ReturnType<typeof connectTo> {
  readonly server: FleetloomServer;
  readonly store: Store;
  readonly problems: unknown[];
  /** Entries that the store has returned since a test set this to 0. */
  entriesRead: number;
  close(): Promise<void>;
}

/** A server on a SQLite file that `seed` fills before the server starts. */
export async function openSizeServer(
  seed: (store: Store) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<SizeServer> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-size-'));
  const path = join(directory, 'fleetloom.db');
  const seeded = await openSqliteStore({ path });
  await seed(seeded);
  await seeded.close();
  const store = await openSqliteStore({ path });
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => void problems.push(problem);
  const counted: Store = {
    ...store,
    read: async (request: ReadRequest) => {
      const entries = await store.read(request);
      opened.entriesRead += entries.length;
      return entries;
    },
  };
  const server = await startOn({ isOpen: true, onProblem, ...options, dataDirectory: directory }, counted, false);
  const opened: SizeServer = {
    ...connectTo(server),
    server,
    store,
    problems,
    entriesRead: 0,
    close: async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return opened;
}

export interface SeedRun {
  readonly id: string;
  readonly frames: number;
  readonly time: number;
  /** The run has not ended. Its session is idle, so that the server does not continue it. */
  readonly isOpen?: boolean;
  /** Deltas of each model request. */
  readonly deltas?: number;
}

/** Sessions with one short run each, which has ended. */
export async function seedShortRuns(store: Store, ids: readonly string[], time: number): Promise<void> {
  for (let at = 0; at < ids.length; at += 250) {
    const writes = ids.slice(at, at + 250).map((id) => {
      const { session, changes, first, last, frame } = beginRun({ id, frames: 0, time });
      const { events, grown } = toRequest(frame, id, 1, 3);
      const frames = [...first, ...events.slice(0, 2), ...grown, ...events.slice(2), ...last];
      return { type: 'create' as const, session, frames, changes };
    });
    await store.commit(writes);
  }
}

/** A session with one run of so many frames, as sessions write them. */
export async function seedRun(store: Store, given: SeedRun): Promise<void> {
  const { id, frames: count, isOpen = false, deltas = 500 } = given;
  const { session, changes, first, last, frame } = beginRun(given);
  await commitOne(store, { type: 'create', session, frames: first, changes });
  const lease = await store.leases.acquire({ sessionId: id, owner: 'seed', ttlMs: 600_000 });
  const fence = lease.ok ? lease.fence : 0;
  const write = (frames: readonly EncodedFrame[]): Write => ({
    type: 'append',
    sessionId: id,
    fence,
    frames,
    changes: [],
  });
  let left = count - first.length - (isOpen ? 0 : last.length);
  for (let request = 1; left > 0; request++) {
    const { events, grown } = toRequest(frame, id, request, Math.max(0, Math.min(deltas, left - REQUEST_EVENTS)));
    const all = [...events.slice(0, 2), ...grown, ...events.slice(2)].slice(0, left);
    // As sessions do: deltas in separate writes, and whole blocks at the end of a model request.
    await store.commit([write(all.slice(0, 2)), ...toChunks(all.slice(2, 2 + grown.length)).map(write)]);
    if (all.length > 2 + grown.length) await commitOne(store, write(all.slice(2 + grown.length)));
    left -= all.length;
  }
  if (!isOpen) await commitOne(store, write(last));
  await store.leases.release({ sessionId: id, fence });
}

export interface SeedTurns {
  readonly id: string;
  readonly time: number;
  readonly turns: number;
  /** Deltas of all turns together, and characters of each. */
  readonly deltas: number;
  readonly chars: number;
}

/** A session with one open run, in which sub-agents have said much and have not ended. */
export async function seedOpenTurns(store: Store, { id, time, turns, deltas, chars }: SeedTurns): Promise<void> {
  const { session, changes, first, frame } = beginRun({ id, frames: 0, time, isOpen: true });
  const inTurn = (streamId: number, type: string, payload: object) =>
    frame(type, payload, { turn: { streamId, depth: 1, run: `req_${id}` }, threadId: `sthr_${id}${streamId}` });
  const started = Array.from({ length: turns }, (_, index) => [
    frame('session.thread_created', {
      id: `sevt_${id}t${index + 1}`,
      session_thread_id: `sthr_${id}${index + 1}`,
      agent_name: 'worker',
      member: null,
      depth: 1,
      joined_by: null,
    }),
    inTurn(index + 1, 'turn.started', {
      agent_name: 'worker',
      model: 'm',
      parent_stream_id: 0,
      child_index: index,
      task: 'Talk',
    }),
    inTurn(index + 1, 'delta.started', { id: `sevt_${id}m${index + 1}`, block: 'text' }),
  ]);
  await commitOne(store, { type: 'create', session, frames: [...first, ...started.flat()], changes });
  const lease = await store.leases.acquire({ sessionId: id, owner: 'seed', ttlMs: 600_000 });
  const fence = lease.ok ? lease.fence : 0;
  const text = 'some words '.repeat(Math.ceil(chars / 11)).slice(0, chars);
  for (let at = 0; at < deltas; at += 1_000) {
    const frames = Array.from({ length: Math.min(1_000, deltas - at) }, (_, index) => {
      const turn = ((at + index) % turns) + 1;
      return inTurn(turn, 'delta.text', { id: `sevt_${id}m${turn}`, text });
    });
    await commitOne(store, { type: 'append', sessionId: id, fence, frames, changes: [] });
  }
  await store.leases.release({ sessionId: id, fence });
}

/** The session of a run, with its first and last frames. */
function beginRun({ id, time, isOpen = false }: SeedRun) {
  const run = `req_${id}`;
  const turn = { streamId: 0, depth: 0, run };
  const thread = `sthr_${id}`;
  let written = 0;
  // Each frame ends a write, and time passes now and then.
  const frame = (type: string, payload: object, over: Partial<NewFrame> = {}) => {
    const at = time + Math.floor(written++ / 100);
    return encodeFrame({ threadId: thread, turn, time: at, type, payload, isLast: true, ...over });
  };
  const first = [
    frame('session.created', toCreated(thread), { threadId: null, turn: null }),
    frame('run.started', { input_ids: [], agent_name: 'long', message: 'Go' }),
    frame('turn.started', { agent_name: 'long', model: 'm', parent_stream_id: null, child_index: null, task: 'Go' }),
    frame('user.message', { id: `sevt_${id}`, content: [{ type: 'text', text: 'Go' }], is_processed: true }),
  ];
  const last = [
    frame('turn.ended', { ok: true, stop_reason: 'end_turn', error: null }),
    frame('run.ended', { ok: true, stop_reason: 'end_turn', error: null, content: 'Done.' }),
    frame('session.status_idle', { id: `sevt_${id}z`, stop_reason: { type: 'end_turn' }, stop_details: null }),
  ];
  const state = isOpen ? 'running' : 'completed';
  const record = {
    id: run,
    started_at: time,
    ended_at: isOpen ? null : time,
    state,
    agent_name: 'long',
    message: 'Go',
  };
  const session = {
    workspaceId: DEFAULT_WORKSPACE,
    id,
    agentId: 'agent_1',
    agentVersion: 1,
    environmentId: 'env_1',
    status: 'idle' as const,
    createdAt: time,
    data: toData(thread, record),
  };
  const primary = { id: thread, parentThreadId: null, status: 'idle' as const, createdAt: time, data: toThreadData() };
  const key = { key: runKey(run), expiresAt: Date.now() + 1e9, result: { session_id: id } };
  const changes = [
    { type: 'create_thread' as const, thread: primary },
    { type: 'put_key' as const, key },
  ];
  return { session, changes, first, last, frame };
}

const REQUEST_EVENTS = 7;

function toRequest(
  frame: (type: string, payload: object) => EncodedFrame,
  id: string,
  request: number,
  deltas: number,
) {
  const [startId, messageId, callId] = ['s', 'm', 'c'].map((name) => `sevt_${id}${name}${request}`);
  const usage = {
    input_tokens: 10,
    output_tokens: 10,
    cache_read_input_tokens: 0,
    cache_creation_5m_input_tokens: 0,
    cache_creation_1h_input_tokens: 0,
    cost_nano_usd: 5,
  };
  const grown = Array.from({ length: deltas }, () => frame('delta.text', { id: messageId, text: 'some words ' }));
  const content = [{ type: 'text', text: 'some words '.repeat(deltas) }];
  const call = { id: callId, call_id: callId, name: 'bash', input: { command: 'ls' }, evaluated_permission: 'allow' };
  const events = [
    frame('span.model_request_start', { id: startId, model: 'm', iteration: request, purpose: 'turn' }),
    frame('delta.started', { id: messageId, block: 'text' }),
    frame('agent.message', { id: messageId, content }),
    frame('agent.tool_use', { ...call, kind: 'builtin', runs_at: 'server' }),
    frame('span.model_request_end', {
      id: `${startId}e`,
      model_request_start_id: startId,
      is_error: false,
      model: 'm',
      model_usage: usage,
      stop_reason: 'tool_use',
      stop_details: null,
    }),
    frame('tool.started', { tool_use_id: callId }),
    frame('agent.tool_result', {
      id: `${callId}r`,
      tool_use_id: callId,
      content: [{ type: 'text', text: 'file' }],
      is_error: false,
      is_interrupted: false,
      duration_ms: 1,
      closes_ask: null,
    }),
  ];
  return { events, grown };
}

function toChunks(frames: readonly EncodedFrame[]): EncodedFrame[][] {
  const chunks: EncodedFrame[][] = [];
  for (let at = 0; at < frames.length; at += 20) chunks.push(frames.slice(at, at + 20));
  return chunks;
}

const agent = {
  type: 'agent',
  id: 'agent_1',
  version: 1,
  name: 'long',
  description: null,
  system: null,
  model: { id: 'scripted/echo', speed: 'standard', effort: { type: 'high' } },
  tools: [],
  mcp_servers: [],
  skills: [],
  multiagent: null,
};

function toCreated(primary: string) {
  return {
    agent,
    environment: { id: 'env_1', type: 'cloud' },
    primary_thread_id: primary,
    title: null,
    metadata: {},
    budget: null,
    depth_max: 2,
    members: [],
  };
}

const noUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_5m_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  cost_nano_usd: 0,
};
const rest = { stop: { reason: { type: 'end_turn' }, details: null }, active: { totalMs: 0, since: null } };

function toData(primary: string, run: object) {
  return {
    agent,
    environment_type: 'cloud',
    primary_thread_id: primary,
    title: null,
    metadata: {},
    budget: null,
    usage: noUsage,
    ...rest,
    thread_active_ms: 0,
    run,
    waiting_ids: [],
  };
}

function toThreadData() {
  return { agent, depth: 0, usage: noUsage, ...rest, started_at: null };
}

/** How long a request took, and for how long it held the event loop. */
export interface Measured {
  readonly status: number;
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** The longest uninterrupted work in CPU time: on a busy machine the wall clock includes waiting for a core. */
  readonly stallMs: number;
}

/** Sends a request and reads its response, up to `bytesMax` bytes. */
export async function measure(
  { server }: SizeServer,
  method: string,
  path: string,
  { body, bytesMax = Infinity, headers = {} }: { body?: object; bytesMax?: number; headers?: object } = {},
): Promise<Measured> {
  const endWatch = watchLoop();
  const startedAt = performance.now();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const length =
    text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = sendRequest({ port: server.port, method, path, headers: { ...headers, ...length } }, resolve);
    request.on('error', reject);
    request.end(text);
  });
  let [bytes, firstByteMs] = [0, Number.NaN];
  await new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => {
      // A stream begins with a comment, which is not an event.
      const isEvent = bytes > 0 || !chunk.toString().startsWith(':') || chunk.includes('\ndata:');
      if (isEvent && Number.isNaN(firstByteMs)) firstByteMs = performance.now() - startedAt;
      bytes += chunk.length;
      if (bytes >= bytesMax) response.destroy();
    });
    response.on('close', resolve);
    response.on('error', () => {});
  });
  const totalMs = performance.now() - startedAt;
  return { status: response.statusCode!, bytes, firstByteMs, totalMs, stallMs: endWatch() };
}
