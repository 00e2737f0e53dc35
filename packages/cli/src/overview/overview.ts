import type { TaskUsage, ThreadStatus, TurnComplete } from '@fleetloom/protocol/stream-json';
import type { Moment, TimeSource } from './moment.ts';

/**
 * What the tree on the terminal and the table of `stats` show of a run: a fold over its events (fold-overview.ts) that
 * keeps the newest of everything and counts the rest, so that its size does not grow with the length of the run.
 */
export interface Overview {
  timeSource: TimeSource;
  sessionId?: string;
  model?: string;
  version?: string;
  cwd?: string;
  /** In the order of first sight, main first. */
  agents: Map<string, Agent>;
  /** Calls without a result, by id, over all agents. */
  openCalls: Map<string, OpenCall>;
  /** Which agent a call has spawned, also before the call itself is seen. */
  spawnedBy: Map<string, string>;
  turnsStarted: number;
  turnsEnded: number;
  lastTurn?: TurnComplete;
  /** When each open turn began, oldest first. */
  turnStarts: Moment[];
  totals: Totals;
  unreadableLines: number;
  missingResults: number;
  first: Moment;
  last: Moment;
  /** The input has ended: what is still running will not be seen to end. */
  ended: boolean;
}

export interface Totals {
  costUsd?: number;
  inputTokens?: number;
  outputTokens?: number;
  /** The wire's own times of the turns. */
  durationMs?: number;
  mainTokens?: number;
}

export interface Agent {
  key: string;
  parent: string | null;
  depth: number;
  type?: string;
  description?: string;
  background: boolean;
  /** Undefined for main, whose state is that of its turns. */
  status?: ThreadStatus;
  activity: Activity;
  entries: Entry[];
  /** The texts and calls among `entries` by their place in the stream. */
  byPlace: Map<string, TextEntry | CallEntry>;
  /** Agents hang, or have hung, among its entries. */
  hasAgents: boolean;
  blocks: number;
  calls: number;
  failedCalls: number;
  runs: number;
  /** The latest report of each run. */
  usageByRun: Map<number, TaskUsage>;
  openCalls: Set<string>;
  openRequests: Map<string, OpenRequest>;
  error?: string;
  /** First and latest sign of life. */
  first: Moment;
  last: Moment;
}

/** A question to the user that has not been answered as far as the stream tells. */
export interface OpenRequest {
  toolUseId?: string;
  toolName: string;
  input: unknown;
}

export interface OpenCall {
  agent: Agent;
  call: CallEntry;
}

/** What an agent is doing while it runs. */
export type Activity =
  | { type: 'working' }
  | { type: 'thinking' }
  | { type: 'writing' }
  | { type: 'retry'; attempt: number; attemptsMax?: number };

export type Entry = TextEntry | CallEntry | AgentEntry | TurnEntry | NoteEntry;

export interface TextEntry {
  type: 'text' | 'thinking';
  place: string;
  text: string;
  /** Characters beyond what is kept. */
  omittedChars: number;
  error?: string;
  aborted: boolean;
}

export interface CallEntry {
  type: 'call';
  place: string;
  id: string;
  name: string;
  /** Undefined while it streams. */
  input: unknown;
  started: Moment;
  result?: { isError: boolean; message: string; at: Moment };
  /** The agent that this call has spawned. */
  agent?: string;
}

/** An agent whose spawning call has not been seen (yet) hangs here. */
export interface AgentEntry {
  type: 'agent';
  agent: string;
}

export interface TurnEntry {
  type: 'turn';
  turn: TurnComplete;
}

export interface NoteEntry {
  type: 'note';
  kind: 'given' | 'error';
  text: string;
}

export const MAIN = 'main';

export function createOverview(timeSource: TimeSource): Overview {
  return {
    timeSource,
    agents: new Map([[MAIN, createAgent(MAIN, null, 0)]]),
    openCalls: new Map(),
    spawnedBy: new Map(),
    turnsStarted: 0,
    turnsEnded: 0,
    turnStarts: [],
    totals: {},
    unreadableLines: 0,
    missingResults: 0,
    first: {},
    last: {},
    ended: false,
  };
}

export function createAgent(key: string, parent: string | null, depth: number): Agent {
  return {
    key,
    parent,
    depth,
    background: false,
    activity: { type: 'working' },
    entries: [],
    byPlace: new Map(),
    hasAgents: false,
    blocks: 0,
    calls: 0,
    failedCalls: 0,
    runs: 0,
    usageByRun: new Map(),
    openCalls: new Set(),
    openRequests: new Map(),
    first: {},
    last: {},
  };
}
