import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { jsonBytesAtLeast } from '../../../base/json/json-bytes.ts';
import { sessionLimits } from '../../core/limits.ts';
import { yieldToEventLoop } from '../../../base/yield-to-event-loop.ts';
import type { Ids } from '../../../base/ids.ts';
import type { JsonObject } from '../../../base/json/json.ts';
import { MAIN } from '../../../engines/program/program.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import type { SessionCreated } from '../../../frames/payload-parts.ts';
import type { SessionLog } from '../../../log/log.ts';
import type { Store } from '../../../store/store.ts';
import { isStoreError } from '../../../store/store-errors.ts';
import type { Change } from '../../../store/write.ts';
import { createSession } from '../create-session.ts';
import { decide } from '../../core/decide.ts';
import type { Draft } from '../../core/draft.ts';
import { readState } from '../../runtime/read-state.ts';
import type { ModelFacts } from '../../runtime/run-request.ts';
import { sessionError } from '../../core/session-errors.ts';
import type { SessionState } from '../../core/state/state.ts';
import { toChanges } from '../../core/steps/to-changes.ts';
import { ImportedHealth } from './imported-health.ts';
import type { ImportedStep } from './imported-step.ts';
import { toImporter } from '../../core/importer.ts';
import { applyControl, applyDelivered, type Control, findAnswers, type ImportedAnswer } from './apply-control.ts';
import { applyStep } from './apply-step.ts';

/** Steps of one conversation to be imported. */
export interface ImportRequest {
  readonly workspaceId: string;
  /** The program's name of the conversation, which is imported once, however often it is sent. */
  readonly conversation: string;
  readonly agent: SessionAgent;
  readonly environment: SessionCreated['environment'];
  readonly title: string | null;
  readonly metadata: JsonObject;
  readonly steps: readonly ImportedStep[];
  /** Set if the client can decide about calls where the session runs. */
  readonly control?: Control | undefined;
  /** Whether no steps follow for now: open turns end. */
  readonly isEnd: boolean;
  readonly now: number;
}

/** The result of an import. */
export interface Imported {
  readonly sessionId: string;
  /** The last line of each agent's file that is part of the session. */
  readonly lines: Readonly<Record<string, number>>;
  /** The number of new steps. */
  readonly taken: number;
  /** The decisions about the calls that the client asks for. */
  readonly answers: readonly ImportedAnswer[];
}

type Known = Omit<Imported, 'taken' | 'answers'>;

/** What imports need. */
export interface ImportsOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly ids: Ids;
  readonly models: ModelFacts;
  /** Called when a client decides about the calls of the session, whose approvals must not stay open when the client has died. */
  readonly onControlled?: ((sessionId: string) => Promise<void>) | undefined;
}

/** Sessions that run elsewhere: the steps that clients import become part of a log like any other. */
export interface Imports {
  /** Adds the steps that are new, so that a client may send any step again. */
  append(request: ImportRequest): Promise<Imported>;
  /** The activity of the threads of an imported session; undefined if no client follows the session. */
  health(sessionId: string): readonly ThreadHealth[] | undefined;
}

/** Creates the imports of a server. */
export function createImports({ store, log, ids, models, onControlled }: ImportsOptions): Imports {
  const inOrder = createOrder();
  const health = new ImportedHealth();
  return {
    append: (request) => inOrder(`${request.workspaceId} ${request.conversation}`, () => append(request)),
    health: (sessionId) => health.of(sessionId),
  };

  async function append(request: ImportRequest): Promise<Imported> {
    checkLines(request.steps);
    const known = await findKnown(request);
    const { sessionId, lines } = known ?? (await begin(request));
    // The same owner for every client that imports it: the fence lets only the newest one write.
    const lease = { sessionId, owner: toImporter(request.conversation), ttlMs: sessionLimits.importLeaseMs };
    const acquired = await store.leases.acquire(lease);
    if (!acquired.ok) throw sessionError('session_elsewhere', `${sessionId} is owned by another process`);
    const { fence } = acquired;
    const state = await readState(store, sessionId);
    if (state === undefined) throw sessionError('session_not_found', `there is no session ${sessionId}`);
    if (request.control !== undefined && !request.isEnd) await onControlled?.(sessionId);
    const written = await write(state, fence, request, new Map(Object.entries(lines)));
    health.update(state, request.isEnd);
    // A client that follows the session keeps the lease, so that no node adopts the session as an orphan.
    if (request.isEnd) await store.leases.release({ sessionId, fence });
    const asks = request.control?.asks ?? [];
    return { sessionId, ...written, answers: await findAnswers(state, asks, store) };
  }

  async function findKnown({ workspaceId, conversation }: ImportRequest): Promise<Known | undefined> {
    const record = await store.keys.get(workspaceId, toKey(conversation));
    if (record === undefined) return undefined;
    // Only `toKeyRecord` writes this record.
    const { session_id: sessionId, lines } = record.result as { session_id: string; lines: Record<string, number> };
    // A deleted session is imported again.
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
    let bytes = 0;
    const pending: { frames: NewSessionFrame[]; changes: Change[] } = { frames: [], changes: [] };
    const add = (drafts: readonly Draft[]) => {
      for (const draft of drafts) {
        if (draft.frames.length === 0) continue;
        for (const frame of draft.frames) pending.frames.push(frame);
        // Only the last summary is written.
        pending.changes = pending.changes.filter(({ type }) => type !== 'put_summary');
        for (const change of toChanges(draft)) pending.changes.push(change);
      }
    };
    const sources = { clock: { now: () => request.now }, ids, models };
    if (request.control !== undefined) add(applyDelivered(state, request.control, sources));
    const before = new Map(lines);
    for (const [at, step] of request.steps.entries()) {
      if (isKnownStep(step, before)) continue;
      if (step.line > (before.get(step.key) ?? 0)) taken++;
      add(applyStep(state, step, { clock: { now: () => step.time }, ids, models }));
      await yieldToEventLoop();
      lines.set(step.key, Math.max(step.line, lines.get(step.key) ?? 0));
      bytes += jsonBytesAtLeast(step.event);
      const isFull = pending.frames.length >= sessionLimits.importFramesMax || bytes >= sessionLimits.importFlushBytes;
      // All steps of a line are written at once: a known line is known as a whole.
      if (isFull && !isSameLine(step, request.steps[at + 1])) await flush();
    }
    if (request.control !== undefined) {
      const { drafts, changes } = await applyControl(state, request.control, store, sources);
      add(drafts);
      pending.changes.push(...changes);
    }
    if (request.isEnd) add([decide(state, cutOff, { clock: { now: () => state.updatedAt }, ids, models })]);
    await flush();
    return { lines: Object.fromEntries(lines), taken };

    async function flush(): Promise<void> {
      const { frames, changes } = pending;
      if (frames.length === 0 && changes.length === 0) return;
      pending.frames = [];
      pending.changes = [];
      bytes = 0;
      const key = { ...toKeyRecord(request, state.id, Object.fromEntries(lines)), replaces: true };
      const all = [...changes, { type: 'put_key' as const, key }];
      await log.append({ type: 'append', sessionId: state.id, fence, frames, changes: all });
    }
  }
}

/** Runs imports of the same conversation one after the other: otherwise they would take the lease from each other. */
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

/** The end of a turn, thread or request has the line of the step before it, and may not have been sent with that step. */
function isKnownStep({ key, line, event }: ImportedStep, lines: ReadonlyMap<string, number>): boolean {
  const last = lines.get(key) ?? 0;
  const isEnding = event.type === 'turn_ended' || event.type === 'thread_ended' || event.type === 'request_ended';
  return isEnding ? line < last : line <= last;
}

/** The frames of one line are committed in one write, and their content must fit into the log like that of other sessions. */
function checkLines(steps: readonly ImportedStep[]): void {
  let bytes = 0;
  for (const [at, step] of steps.entries()) {
    bytes = (at > 0 && isSameLine(step, steps[at - 1]) ? bytes : 0) + jsonBytesAtLeast(step.event);
    const problem =
      bytes > sessionLimits.contentBytesMax
        ? `has ${bytes} bytes, and ${sessionLimits.contentBytesMax} are allowed`
        : null;
    if (problem !== null) throw sessionError('event_too_large', `line ${step.line} of ${step.key} ${problem}`);
  }
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
    expiresAt: now + sessionLimits.importKeyMs,
    result: { session_id: sessionId, lines },
  };
}
