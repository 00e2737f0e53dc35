import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import type { ProgramVitals } from '../../engines/program/program.ts';
import type { RequestProgress, RequestActivity } from './request-activity.ts';
import type { Call, OpenTurn, SessionState, ThreadState } from '../core/state/state.ts';

/** The sources of the health of threads. */
export interface HealthSources {
  readonly signs: Pick<RequestActivity, 'of'>;
  /** The vitals of the program that runs a thread; undefined without a program. */
  readonly vitalsOf: (thread: ThreadState) => ProgramVitals | undefined;
}

/** The current activity of the running threads of a session. */
export function toThreadHealth(state: SessionState, sources: HealthSources): readonly ThreadHealth[] {
  return [...state.threads.values()].flatMap((thread) =>
    thread.turn === null ? [] : [toHealth(thread, thread.turn, sources)],
  );
}

function toHealth(thread: ThreadState, turn: OpenTurn, { signs, vitalsOf }: HealthSources): ThreadHealth {
  const { id } = thread;
  const { phase } = turn;
  const running = [...thread.calls.values()].filter(isRunning);
  if (phase.type === 'program') return { id, ...toProgram(turn, running, vitalsOf(thread)) };
  if (phase.type === 'requesting') return { id, ...toRequest(turn, signs.of(phase.startId)) };
  // The tool that has been running longest delays the turn.
  const [tool] = running.toSorted((left, right) => left.progress.since - right.progress.since);
  if (tool !== undefined) return { id, since: toTime(tool.progress.since), doing: 'tool', tool: tool.name };
  return { id, since: toTime(thread.updatedAt), doing: 'wait', waits_for: toWait(thread, turn) };
}

type Running = Call & { readonly progress: { readonly type: 'running'; readonly since: number } };
/** The health of a thread without the thread id. */
type Doing<Name extends ThreadHealth['doing']> = Omit<Extract<ThreadHealth, { doing: Name }>, 'id'>;

function isRunning(call: Call): call is Running {
  return call.progress.type === 'running';
}

function toProgram(turn: OpenTurn, [tool]: readonly Running[], vitals: ProgramVitals | undefined): Doing<'program'> {
  const { pid = null, isAlive = false, lastByteAt = null } = vitals ?? {};
  return {
    since: toTime(turn.startedAt),
    doing: 'program',
    pid,
    is_alive: isAlive,
    last_byte_at: toTimeOrNull(lastByteAt),
    tool: tool?.name ?? null,
  };
}

/** A request that was decided may not have begun yet. */
function toRequest(turn: OpenTurn, life: RequestProgress | undefined): Doing<'request'> {
  return {
    since: toTime(life?.since ?? turn.startedAt),
    doing: 'request',
    connection: life?.connection ?? null,
    last_byte_at: toTimeOrNull(life?.lastByteAt ?? null),
  };
}

function toWait({ calls }: ThreadState, { phase }: OpenTurn): 'retry' | 'threads' | 'somebody' {
  if (phase.type === 'waiting' || phase.type === 'due') return 'retry';
  const isJoining = [...calls.values()].some(({ progress }) => progress.type === 'joining');
  return isJoining ? 'threads' : 'somebody';
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

function toTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : toTime(ms);
}
