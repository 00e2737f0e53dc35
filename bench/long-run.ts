import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, type NewFrame, openSqliteStore, startServer } from '@fleetloom/server';
// The package does not export it: only a server writes checkpoints.
import { writeFleetCheckpoints } from '../packages/server/src/views/fleet/write-checkpoints.ts';
import { DELTA } from './sessions-fleet.ts';

/** A server on a file with one session, whose run has this many deltas, one per frame. */
export interface LongRun {
  readonly port: number;
  readonly sessionId: string;
  /** The last frame of the log. */
  readonly head: number;
  close(): Promise<void>;
}

export interface LongRunOptions {
  readonly deltas: number;
  /** Agents that write in turn. */
  readonly agents?: number;
  /** Whether the run ends behind its last delta. */
  readonly isEnded?: boolean;
}

/** Writes the log with the checkpoints that a server writes in the background, and starts a server on it. */
export async function openLongRun({ deltas, agents = 16, isEnded = false }: LongRunOptions): Promise<LongRun> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const head = await writeLog(folder, { deltas, agents, isEnded });
  const server = await startServer({ dataDirectory: folder, isOpen: true });
  return {
    port: server.port,
    sessionId: SESSION,
    head,
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function writeLog(folder: string, { deltas, agents, isEnded }: Required<LongRunOptions>): Promise<number> {
  const store = await openSqliteStore({ path: join(folder, 'fleetloom.db') });
  const log = createLog({ store });
  const session = {
    workspaceId: WORKSPACE,
    id: SESSION,
    agentId: 'agent_1',
    agentVersion: 1,
    environmentId: 'env_1',
    status: 'idle' as const,
    createdAt: Date.now(),
    data: { primary_thread_id: 'sthr_0' },
  };
  await log.append({ type: 'create', session, frames: openFrames(agents), changes: [] });
  const lease = await store.leases.acquire({ sessionId: SESSION, owner: 'bench', ttlMs: 3_600_000 });
  const fence = lease.ok ? lease.fence : 0;
  const append = (frames: readonly NewFrame[]) =>
    log.append({ type: 'append', sessionId: SESSION, fence, frames, changes: [] });
  for (let at = 0; at < deltas; at += FRAMES_AT_ONCE) {
    const count = Math.min(FRAMES_AT_ONCE, deltas - at);
    await append(Array.from({ length: count }, (_, index) => toDelta(at + index, agents)).flat());
  }
  const { lastSeq } = await append(isEnded ? endFrames(deltas, agents) : toDelta(deltas, agents));
  await store.leases.release({ sessionId: SESSION, fence });
  await writeFleetCheckpoints({ store, sessionId: SESSION, head: lastSeq, signal: new AbortController().signal });
  await log.close();
  await store.close();
  return lastSeq;
}

const WORKSPACE = 'wrkspc_default';
const SESSION = 'sesn_01bench';
const RUN = 'req_01bench';
const FRAMES_AT_ONCE = 512;

function openFrames(agents: number): NewFrame[] {
  const agent = { type: 'agent', id: 'agent_1', name: 'lead', model: { id: 'bench' } };
  const created = {
    agent,
    environment: { id: 'env_1', type: 'cloud' },
    primary_thread_id: 'sthr_0',
    title: null,
    metadata: {},
    budget: null,
    depth_max: 2,
    members: [],
  };
  return [
    { threadId: 'sthr_0', turn: null, time: Date.now(), type: 'session.created', payload: created },
    ...Array.from({ length: agents - 1 }, (_, index) => ({
      ...frame(0, 0, 'session.thread_created', {
        id: `sevt_thread_${index}`,
        session_thread_id: `sthr_${index + 1}`,
        agent_name: `agent ${index + 1}`,
        member: null,
        depth: 1,
        joined_by: null,
      }),
      turn: null,
    })),
    frame(0, 0, 'run.started', { agent_name: 'lead', message: 'Begin.' }),
    ...Array.from({ length: agents }, (_, agent) => startTurn(agent, 0, agents)),
  ];
}

function endFrames(deltas: number, agents: number): NewFrame[] {
  const turns = Array.from({ length: agents }, (_, agent) => endTurn(agent, turnOf(deltas - 1, agents), agents));
  return [...turns, frame(0, 0, 'run.ended', { ...ENDED, content: '' })];
}

/** The delta with this number, by the agents in turn; preceded by the next turn of its agent if that is due. */
function toDelta(at: number, agents: number): NewFrame[] {
  const agent = at % agents;
  const turn = turnOf(at, agents);
  const delta = frame(agent, agent + turn * agents, 'delta.text', { id: `sevt_${agent}_${turn}`, text: DELTA });
  if (turn === turnOf(at - agents, agents)) return [delta];
  return [endTurn(agent, turn - 1, agents), startTurn(agent, turn, agents), delta];
}

/** The turn of its agent that a delta belongs to. */
function turnOf(at: number, agents: number): number {
  return Math.max(0, Math.floor(at / agents / DELTAS_PER_TURN));
}

function startTurn(agent: number, turn: number, agents: number): NewFrame {
  const parent =
    agent === 0 ? { parent_stream_id: null, child_index: null } : { parent_stream_id: 0, child_index: agent };
  const started = { agent_name: `agent ${agent}`, model: 'bench', task: 'Talk.', ...parent };
  return frame(agent, agent + turn * agents, 'turn.started', started);
}

function endTurn(agent: number, turn: number, agents: number): NewFrame {
  return frame(agent, agent + turn * agents, 'turn.ended', ENDED);
}

const DELTAS_PER_TURN = 1_000;
const ENDED = { ok: true, stop_reason: 'end_turn', error: null };

/** A frame in a write of its own, like deltas. */
function frame(agent: number, streamId: number, type: string, payload: object): NewFrame {
  const turn = { streamId, depth: agent === 0 ? 0 : 1, run: RUN };
  return { threadId: `sthr_${agent}`, turn, time: Date.now(), type, payload, isLast: true };
}
