import type { Clock } from '../base/clock.ts';
import type { NewFrame } from '../store/frame.ts';
import type { SessionLog } from '../log/log.ts';
import { sessionOf, type Write } from '../store/write.ts';
import type { Registry } from './registry.ts';

/** A log that knows how long its writes wait. */
export type MeasuredLog = SessionLog & {
  /** How long the oldest write that is not durable has waited. */
  readonly oldestWriteMs: () => number;
};

/** Everything that happens in a session passes the log, so that is where it is counted: once it is durable. */
export function measureLog(log: SessionLog, registry: Registry, clock: Clock): MeasuredLog {
  const frames = registry.counter('fleetloom_frames_appended_total', 'Frames that were committed.');
  const latency = registry.histogram(
    'fleetloom_commit_latency_seconds',
    'From the moment that something is to be written until it is durable.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  );
  const calls = registry.counter('fleetloom_tool_calls_total', 'Calls of tools by what kind of tool it is.');
  const running = new Set<string>();
  /** In the order of their start. */
  const writes = new Set<{ readonly startedAt: number }>();
  registry.gauge('fleetloom_sessions_running', 'Sessions at work in this process.', () => running.size);

  return {
    ...log,
    oldestWriteMs: () => {
      const [oldest] = writes;
      return oldest === undefined ? 0 : clock.steady() - oldest.startedAt;
    },
    append: async (write) => {
      const startedAt = clock.steady();
      const pending = { startedAt };
      writes.add(pending);
      const sessionId = sessionOf(write);
      try {
        const appended = await log.append(write);
        latency((clock.steady() - startedAt) / 1_000);
        note(sessionId, write);
        return appended;
      } catch (error) {
        // Another process owns the session now, or none does.
        running.delete(sessionId);
        throw error;
      } finally {
        writes.delete(pending);
      }
    },
  };

  function note(sessionId: string, write: Write<NewFrame>): void {
    if (write.type === 'delete') running.delete(sessionId);
    if (!('frames' in write)) return;
    frames({}, write.frames.length);
    for (const { type, payload } of write.frames) {
      if (STARTS.has(type)) running.add(sessionId);
      else if (ENDS.has(type)) running.delete(sessionId);
      else if (type in KINDS) calls({ kind: KINDS[type] ?? toKind(payload) });
    }
  }
}

/** Requests too: a session taken over from another process runs here without another status frame. */
const STARTS: ReadonlySet<string> = new Set(['session.status_running', 'span.model_request_start']);
const ENDS: ReadonlySet<string> = new Set(['session.status_idle', 'session.status_terminated']);

/** Null: the frame says it. */
const KINDS: Readonly<Record<string, string | null>> = {
  'agent.tool_use': null,
  'agent.mcp_tool_use': 'mcp',
  'agent.custom_tool_use': 'custom',
};

function toKind(payload: object): string {
  return 'kind' in payload && typeof payload.kind === 'string' ? payload.kind : 'unknown';
}
