import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { limits } from '../../base/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Ids } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { MAIN } from '../../engines/program.ts';
import type { NewSessionFrame, SessionCreated } from '../../frames/frames.ts';
import type { SessionLog } from '../../store/log.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { Change } from '../../store/write.ts';
import { createSession } from '../create-session.ts';
import { decide } from '../decide.ts';
import type { Draft } from '../draft.ts';
import { readState } from '../read-state.ts';
import type { ModelFacts } from '../run-request.ts';
import { sessionError } from '../session-errors.ts';
import type { SessionState } from '../state.ts';
import { toChanges } from '../to-changes.ts';
import { ImportedHealth } from './imported-health.ts';
import type { ImportedStep } from './imported-step.ts';
import { toImporter } from './importer.ts';
import { takeStep } from './take-step.ts';

export interface ImportRequest {
  readonly workspaceId: string;
  /** How the program names the conversation: it is imported once, however often it is sent. */
  readonly conversation: string;
  readonly agent: SessionAgent;
  readonly environment: SessionCreated['environment'];
  readonly title: string | null;
  readonly metadata: JsonObject;
  readonly steps: readonly ImportedStep[];
  /** Nothing follows for now: what is still open ends. */
  readonly isEnd: boolean;
  readonly now: number;
}

export interface Imported {
  readonly sessionId: string;
  /** The last line of each agent's file that is part of the session. */
  readonly lines: Readonly<Record<string, number>>;
  /** Steps that were new. */
  readonly taken: number;
}

type Known = Omit<Imported, 'taken'>;

export interface ImportsOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly ids: Ids;
  readonly models: ModelFacts;
}

/** Sessions that happen elsewhere: what is told of them becomes part of a log like any other. */
export interface Imports {
  /** What is known already is left out, so that anything can be sent again. */
  take(request: ImportRequest): Promise<Imported>;
  /** What the threads of a session do that a client follows; undefined for any other session. */
  health(sessionId: string): readonly ThreadHealth[] | undefined;
}

export function createImports({ store, log, ids, models }: ImportsOptions): Imports {
  const inOrder = createOrder();
  const health = new ImportedHealth();
  return {
    take: (request) => inOrder(`${request.workspaceId} ${request.conversation}`, () => take(request)),
    health: (sessionId) => health.of(sessionId),
  };

  async function take(request: ImportRequest): Promise<Imported> {
    const known = await findKnown(request);
    const { sessionId, lines } = known ?? (await begin(request));
    // The same owner whoever imports it: the fence lets only the newest one write.
    const lease = { sessionId, owner: toImporter(request.conversation), ttlMs: limits.importLeaseMs };
    const acquired = await store.leases.acquire(lease);
    if (!acquired.ok) throw sessionError('session_elsewhere', `${sessionId} is owned by another process`);
    const { fence } = acquired;
    const state = await readState(store, sessionId);
    if (state === undefined) throw sessionError('session_not_found', `there is no session ${sessionId}`);
    const written = await write(state, fence, request, new Map(Object.entries(lines)));
    health.update(state, request.isEnd);
    // Who goes on with it keeps it meanwhile; nobody may take it for one that was left behind.
    if (request.isEnd) await store.leases.release({ sessionId, fence });
    return { sessionId, ...written };
  }

  async function findKnown({ workspaceId, conversation }: ImportRequest): Promise<Known | undefined> {
    const record = await store.keys.get(workspaceId, toKey(conversation));
    if (record === undefined) return undefined;
    // We put it there ourselves.
    const { session_id: sessionId, lines } = record.result as { session_id: string; lines: Record<string, number> };
    // Somebody may have deleted the session; then it is imported anew.
    return (await store.sessions.get(workspaceId, sessionId)) === undefined ? undefined : { sessionId, lines };
  }

  async function begin(request: ImportRequest): Promise<Known> {
    const { workspaceId, agent, environment, title, metadata, steps, now, conversation } = request;
    const clock = { now: () => steps[0]?.time ?? now };
    const isKnown = (await store.keys.get(workspaceId, toKey(conversation))) !== undefined;
    const toRecord = ({ id }: { id: string }) => ({ ...toKeyRecord(request, id, {}), replaces: isKnown });
    const create = { workspaceId, agent, environment, title, metadata, isReadOnly: true, toKey: toRecord };
    try {
      return { sessionId: await createSession(log, { clock, ids, models }, create), lines: {} };
    } catch (error) {
      const first = isStoreError(error, 'key_taken') ? await findKnown(request) : undefined;
      if (first === undefined) throw error;
      return first;
    }
  }

  async function write(
    state: SessionState,
    fence: number,
    request: ImportRequest,
    lines: Map<string, number>,
  ): Promise<Pick<Imported, 'lines' | 'taken'>> {
    let taken = 0;
    const pending: { frames: NewSessionFrame[]; changes: Change[] } = { frames: [], changes: [] };
    const add = (drafts: readonly Draft[]) => {
      for (const draft of drafts) {
        for (const frame of draft.frames) pending.frames.push(frame);
        for (const change of toChanges(draft)) pending.changes.push(change);
      }
    };
    const before = new Map(lines);
    for (const [at, step] of request.steps.entries()) {
      if (isTaken(step, before)) continue;
      if (step.line > (before.get(step.key) ?? 0)) taken++;
      add(takeStep(state, step, { clock: { now: () => step.time }, ids, models }));
      await yieldToEventLoop();
      lines.set(step.key, Math.max(step.line, lines.get(step.key) ?? 0));
      // A line is written as a whole: that it is known means that all of it is.
      if (pending.frames.length >= limits.importFramesMax && !isSameLine(step, request.steps[at + 1])) await flush();
    }
    if (request.isEnd) add([decide(state, cutOff, { clock: { now: () => state.updatedAt }, ids, models })]);
    await flush();
    return { lines: Object.fromEntries(lines), taken };

    async function flush(): Promise<void> {
      const { frames, changes } = pending;
      if (frames.length === 0) return;
      pending.frames = [];
      pending.changes = [];
      const key = { ...toKeyRecord(request, state.id, Object.fromEntries(lines)), replaces: true };
      const all = [...changes, { type: 'put_key' as const, key }];
      await log.append({ type: 'append', sessionId: state.id, fence, frames, changes: all });
    }
  }
}

/** One after the other for the same name: two who tell the same at once would take the session from each other. */
function createOrder() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    const before = last.get(name) ?? Promise.resolve();
    const result = before.catch(() => undefined).then(work);
    last.set(name, result);
    try {
      return await result;
    } finally {
      if (last.get(name) === result) last.delete(name);
    }
  };
}

/** What ends something has the line of what came before it, and may not have been sent with it. */
function isTaken({ key, line, event }: ImportedStep, lines: ReadonlyMap<string, number>): boolean {
  const last = lines.get(key) ?? 0;
  const isEnding = event.type === 'turn_ended' || event.type === 'thread_ended' || event.type === 'request_ended';
  return isEnding ? line < last : line <= last;
}

function isSameLine(step: ImportedStep, next: ImportedStep | undefined): boolean {
  return next !== undefined && next.key === step.key && next.line === step.line;
}

const cutOff = {
  type: 'program',
  events: [
    {
      event: {
        type: 'exited',
        key: MAIN,
        message: 'what was imported ends in the middle of a turn',
        isWanted: false,
      },
    },
  ],
} as const;

function toKey(conversation: string): string {
  return `import ${conversation}`;
}

function toKeyRecord({ conversation, now }: ImportRequest, sessionId: string, lines: Readonly<Record<string, number>>) {
  return {
    key: toKey(conversation),
    expiresAt: now + limits.importKeyMs,
    result: { session_id: sessionId, lines },
  };
}
