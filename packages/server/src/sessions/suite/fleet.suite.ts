import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentSnapshot, SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import type { Engine } from '../../engines/model/engine.ts';
import type { ProgramEngine } from '../../engines/program/program.ts';
import { createScriptedEngine } from '../../engines/model/scripted/engine.ts';
import { createLog } from '../../log/log.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import { type OfferedTool, type Toolbox, type ToolProblem } from '../../tools/toolbox.ts';
import type { ToolContext, ToolResult } from '../../tools/tool.ts';
import type { ClientEvent } from '../core/client-event.ts';
import { type FramePayloads, type FrameType, type SessionFrame, toSessionFrame } from '../../frames/frames.ts';
import type { SessionParts } from '../runtime/open-session.ts';
import { OPEN_PROGRAM } from '../runtime/program/open-programs.ts';
import { readState } from '../runtime/read-state.ts';
import type { CreateSession } from '../api/create-session.ts';
import { createSessions, type Sessions } from '../api/sessions.ts';
import { findSessionProblems, readFrames } from './check-session.suite.ts';
import { recordWrites, writeUntil } from './crash.suite.ts';
import { toLogLines } from './to-log-lines.suite.ts';

/** A tool whose behaviour a test defines. */
export type TestTool = {
  readonly run?: (input: unknown, signal: AbortSignal, context: ToolContext) => Promise<ToolResult> | ToolResult;
} & (
  | {
      readonly kind: 'builtin' | 'mcp';
      readonly permission?: 'allow' | 'ask';
      readonly isEnabled?: boolean;
      readonly serverName?: string;
      /** Of a built-in one: whether it works with files. */
      readonly isSandboxed?: boolean;
    }
  | { readonly kind: 'custom' }
);

/** Options of a test fleet. */
export interface FleetOptions {
  /** Records the files of sessions that are created as recorded. */
  readonly openRecorder?: SessionParts['openRecorder'];
  readonly store?: Store;
  readonly tools?: Readonly<Record<string, TestTool>>;
  readonly problems?: readonly ToolProblem[];
  readonly engine?: Engine;
  readonly programs?: ProgramEngine;
  readonly windowTokens?: number;
  readonly clock?: Clock;
  readonly schedule?: Schedule;
  readonly random?: () => number;
  readonly costNanoUsd?: number | null;
  readonly owner?: string;
  readonly shared?: SessionParts['shared'];
  readonly ownerWaitMs?: number;
  readonly isHeapShort?: () => boolean;
  readonly openBytesMax?: number;
  readonly onThreadEnd?: (threadId: string) => void;
  /** Instead of the tools above. */
  readonly openToolbox?: () => Toolbox;
  /** Called before a toolbox offers its tools. */
  readonly onOffer?: () => void;
  /** Called before a tool gets its directory. */
  readonly onWorkspace?: () => Promise<void>;
  /** False: the test removes frames from the log, or breaks it. */
  readonly isChecked?: boolean;
}

/**
 * Sessions with the scripted model and the tools of a test, for as long as the test runs. At its end the store has to be
 * consistent.
 */
export async function openFleet(options: FleetOptions = {}) {
  const { clock = systemClock, random = () => 0, costNanoUsd = 7, owner = 'test' } = options;
  const store = recordWrites(options.store ?? createMemoryStore({ clock }));
  const log = createLog({ store });
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'fleet-')));
  const ids = createIds({ now: clock.now, random });
  const problems: unknown[] = [];
  const sessions = createSessions({
    store,
    log,
    engine: options.engine ?? createScriptedEngine({ sleep: quickly }),
    programOf: toProgramOf(options.programs),
    models: { costNanoUsd: () => costNanoUsd, windowTokens: () => options.windowTokens ?? 1_000_000 },
    openToolbox: options.openToolbox ?? (() => createTestToolbox(options)),
    openWorkspace: async () => {
      await options.onWorkspace?.();
      return workspace;
    },
    openRecorder: options.openRecorder,
    clock,
    ids,
    random,
    owner,
    shared: options.shared,
    ownerWaitMs: options.ownerWaitMs,
    isHeapShort: options.isHeapShort,
    openBytesMax: options.openBytesMax,
    onProblem: (_, error) => problems.push(error),
    ...(options.schedule === undefined ? {} : { schedule: options.schedule }),
  });
  await sessions.start();
  const close = async () => {
    await sessions.close();
    await log.close();
    await rm(workspace, { recursive: true, force: true });
  };
  onTestFinished(async () => {
    await close();
    if (options.isChecked ?? true) await checkSessions(store);
    await store.close();
  });
  return { ...createWatch(store, log), ...createSteps(sessions), store, log, sessions, problems, options, close };
}

/** Sessions on a store with scripted engines, for tests. */
export type Fleet = Awaited<ReturnType<typeof openFleet>>;

async function checkSessions(store: Store): Promise<void> {
  // Another fleet of the same test may have closed it already.
  const sessions = await store.sessions.list({ workspaceId, limit: 100, includeArchived: true }).catch(() => undefined);
  for (const { id: sessionId } of sessions?.items ?? []) {
    expect(await findSessionProblems(store, { workspaceId, sessionId })).toEqual([]);
  }
}

/** A second process on a store as the first one would have left it, had it been killed after a frame. */
export async function crash(
  { store: { writes, documents }, options }: Fleet,
  isLast: (frame: SessionFrame) => boolean,
  more: FleetOptions = {},
): Promise<Fleet> {
  const store = createMemoryStore({ clock: options.clock ?? systemClock });
  await writeUntil(store, writes, isLast);
  const { items } = await documents.list({ kind: OPEN_PROGRAM, limit: 100 });
  for (const { kind, id, data } of items) await store.documents.put({ kind, id, data });
  return openFleet({ ...options, ...more, store, owner: 'restarted' });
}

/** Waits are short, but they are waits: others get their turn. Those of a minute end only by a signal. */
async function quickly(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    if (ms < hangMs) setTimeout(resolve, Math.min(ms, 5));
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
  signal?.throwIfAborted();
}

const hangMs = 60_000;

/** A step of a script that lasts until it is stopped. */
export const hang = { sleep_ms: hangMs };

function createSteps(sessions: Sessions) {
  return {
    /** Creates a session with its first task. */
    begin: async (agent: SessionAgent, text: string | object, more: Partial<CreateSession> = {}) => {
      const { id } = await sessions.create({
        workspaceId,
        agent,
        environment: { id: 'env_1', type: 'cloud' },
        events: [message(text)],
        ...more,
      });
      return id;
    },
    send: (sessionId: string, ...events: ClientEvent[]) => sessions.send({ workspaceId, sessionId, events }),
  };
}

function createWatch(store: Store, log: ReturnType<typeof createLog>) {
  const frames = (sessionId: string) => readFrames(store, sessionId);
  const watch = {
    frames,
    /** The types of all frames, without deltas. */
    types: async (sessionId: string, threadId?: string) =>
      (await frames(sessionId))
        .filter((frame) => !frame.type.startsWith('delta.') && (threadId === undefined || frame.threadId === threadId))
        .map(({ type }) => type),
    payloads: async <Type extends FrameType>(sessionId: string, type: Type) =>
      // The filter keeps only frames of this type.
      (await frames(sessionId))
        .filter((frame) => frame.type === type)
        .map(({ payload }) => payload as FramePayloads[Type]),
    /** The frames after a cursor in short form, one line each. */
    story: async (sessionId: string, after = 0) => {
      const all = await frames(sessionId);
      const skipped = toLogLines(all.filter(({ seq }) => seq <= after)).length;
      return toLogLines(all).slice(skipped);
    },
    head: async (sessionId: string) => (await store.heads([sessionId])).get(sessionId)!,
    state: async (sessionId: string) => (await readState(store, sessionId))!,
    /** Reads from a cursor until a frame matches, and returns that frame. */
    until: async (sessionId: string, isIt: (frame: SessionFrame) => boolean, after = 0): Promise<SessionFrame> => {
      for await (const entries of log.tail({ sessionId, after })) {
        for (const entry of entries) {
          if (entry.kind !== 'frame') continue;
          const frame = toSessionFrame(entry.value);
          if (isIt(frame)) return frame;
        }
      }
      throw new Error('the log ended before it came');
    },
    /** Waits until the session is idle, after a cursor. */
    rest: (sessionId: string, after = 0) =>
      watch.until(
        sessionId,
        ({ type }) => type === 'session.status_idle' || type === 'session.status_terminated',
        after,
      ),
    /** The ids that the idle session waits for. */
    asks: async (sessionId: string) => {
      const { reason } = (await watch.state(sessionId)).stop;
      return reason.type === 'requires_action' ? reason.event_ids : [];
    },
  };
  return watch;
}

function createTestToolbox({ tools = {}, problems = [], onThreadEnd, onOffer }: FleetOptions): Toolbox {
  return {
    offer: async () => {
      onOffer?.();
      return { tools: new Map(Object.entries(tools).map(([name, tool]) => [name, toOffered(name, tool)])), problems };
    },
    closeThread: async (threadId) => onThreadEnd?.(threadId),
    close: async () => {},
  };
}

function toOffered(name: string, tool: TestTool): OfferedTool {
  const about = { name, description: name, inputSchema: { type: 'object' } };
  if (tool.kind === 'custom') return { ...about, kind: 'custom', isEnabled: true };
  const { permission = 'allow', isEnabled = true, serverName = 'server', isSandboxed = true } = tool;
  const run = async (input: unknown, context: ToolContext) =>
    (await tool.run?.(input, context.signal, context)) ?? result(`${name} ran`);
  if (tool.kind === 'mcp') return { ...about, kind: 'mcp', serverName, permission, isEnabled, run };
  return { ...about, kind: 'builtin', permission, isEnabled, isSandboxed, run };
}

/** The workspace of all test sessions. */
export const workspaceId = 'wrkspc_1';

/** A tool result with one text. */
export function result(text: string, isError = false): ToolResult {
  return { content: [{ type: 'text', text }], isError };
}

/** A message of a user. An object is a script for the model. */
export function message(what: string | object): Extract<ClientEvent, { type: 'user.message' }> {
  const text = typeof what === 'string' ? what : script(what);
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

/** A script may hold the messages of sub-agents, which hold scripts themselves. */
export function script(what: object): string {
  return `<script>${JSON.stringify(what).replaceAll('<', String.raw`\u003c`)}</script>`;
}

/** A model response with one text. */
export function says(text: string): string {
  return script({ turns: [[{ say: text }]] });
}

/** An agent of a roster. */
export function snapshot(name: string, more: Partial<AgentSnapshot> = {}): AgentSnapshot {
  return {
    type: 'agent',
    id: `agent_${name}`,
    version: 1,
    name,
    description: `does ${name}`,
    system: null,
    model: { id: 'scripted/echo', effort: { type: 'high' }, speed: 'standard' },
    tools: [],
    mcp_servers: [],
    skills: [],
    execution_identity: { type: 'service_account' },
    ...more,
  };
}

/** The agent of a session. */
export function agent(name: string, members: readonly AgentSnapshot[] = []): SessionAgent {
  const multiagent = members.length === 0 ? null : { type: 'coordinator' as const, agents: members };
  return { ...snapshot(name), multiagent };
}

/** An agent without a roster. */
export const solo = agent('solo');

/** A coordinator with one agent in its roster, which may run in several threads. */
export const lead = agent('lead', [snapshot('worker')]);

/** A decision about a tool call. */
export function confirm(toolUseId: string, result: 'allow' | 'deny' = 'allow', denyMessage: string | null = null) {
  return { type: 'user.tool_confirmation' as const, tool_use_id: toolUseId, result, deny_message: denyMessage };
}

/** The result of a custom tool. */
export function customResult(toolUseId: string, text: string, isError = false) {
  const { content } = result(text);
  return { type: 'user.custom_tool_result' as const, custom_tool_use_id: toolUseId, content, is_error: isError };
}

/** The result of a tool that a worker ran. */
export function workerResult(toolUseId: string, text: string, isError = false) {
  const { content } = result(text);
  return { type: 'user.tool_result' as const, tool_use_id: toolUseId, content, is_error: isError };
}

/** An interrupt of one thread, or of all. */
export function interruption(threadId: string | null = null, isSubtree = false) {
  return { type: 'user.interrupt' as const, session_thread_id: threadId, is_subtree: isSubtree };
}

/** A step that delegates, and waits for all reports. Each task may be a script. */
export function delegates(...messages: (string | object)[]) {
  const tasks = messages.map((what) => ({ agent: 'worker', message: typeof what === 'string' ? what : script(what) }));
  return { call: 'delegate', input: { tasks } };
}

/** A step that sends a task to an agent, and continues. */
export function sends(what: string | object, more: object = {}) {
  return {
    call: 'send_to_agent',
    input: { agent: 'worker', message: typeof what === 'string' ? what : script(what), ...more },
  };
}

/** A promise that a test resolves. */
export function createGate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** One engine for the models of all programs. */
export function toProgramOf(engine: ProgramEngine | undefined): SessionParts['programOf'] {
  return engine === undefined ? undefined : () => engine;
}
