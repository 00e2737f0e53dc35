import type { TaskUsage, ThreadStatus, TurnComplete } from '@fleetloom/protocol/stream-json';
import type { Moment, TimeSource } from './moment.ts';

/**
 * The state behind the live tree and the table of `stats`: a fold over the events of a run (fold-overview.ts) that keeps the
 * newest entries and counts the rest, so that its size does not grow with the run.
 */
export interface Overview {
  timeSource: TimeSource;
  sessionId?: string;
  model?: string;
  version?: string;
  cwd?: string;
  /** All agents in order of appearance, the main agent first. */
  agents: Map<string, Agent>;
  /** Open tool calls of all agents, by id. */
  openCalls: Map<string, OpenCall>;
  /** The agent that each tool call has spawned; possibly known before the call. */
  spawnedBy: Map<string, string>;
  turnsStarted: number;
  turnsEnded: number;
  lastTurn?: TurnComplete;
  /** Start times of open turns, oldest first. */
  turnStarts: Moment[];
  totals: Totals;
  unreadableLines: number;
  missingResults: number;
  first: Moment;
  last: Moment;
  /** Whether the stream has ended, so that running agents will not be updated any more. */
  ended: boolean;
}

/** Sums over all turns, as far as the stream reports them. */
export interface Totals {
  costUsd?: number;
  inputTokens?: number;
  outputTokens?: number;
  /** Durations of the turns, as reported. */
  durationMs?: number;
  mainTokens?: number;
}

/** One agent of the stream with its entries and current activity. */
export interface Agent {
  key: string;
  parent: string | null;
  depth: number;
  type?: string;
  description?: string;
  background: boolean;
  /** Undefined for main, whose state follows from its turns. */
  status?: ThreadStatus;
  activity: Activity;
  entries: Entry[];
  /** The texts and calls among `entries`, by their position in the stream. */
  byPlace: Map<string, TextEntry | CallEntry>;
  /** Whether the entries contain, or contained, agents. */
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
  /** The times of the first and the latest line. */
  first: Moment;
  last: Moment;
}

/** A question to the user without an answer so far. */
export interface OpenRequest {
  toolUseId?: string;
  toolName: string;
  input: unknown;
}

/** A tool call without a result yet. */
export interface OpenCall {
  agent: Agent;
  call: CallEntry;
}

/** The current activity of a running agent. */
export type Activity =
  | { type: 'working' }
  | { type: 'thinking' }
  | { type: 'writing' }
  | { type: 'retry'; attempt: number; attemptsMax?: number };

/** One item of an agent's transcript. */
export type Entry = TextEntry | CallEntry | AgentEntry | TurnEntry | NoteEntry;

export interface TextEntry {
  type: 'text' | 'thinking';
  place: string;
  text: string;
  /** Number of characters beyond the limit. */
  omittedChars: number;
  error?: string;
  aborted: boolean;
}

export interface CallEntry {
  type: 'call';
  place: string;
  id: string;
  name: string;
  /** The input; undefined while it is streaming. */
  input: unknown;
  started: Moment;
  result?: { isError: boolean; message: string; at: Moment };
  /** The agent spawned by this call. */
  agent?: string;
}

/** An agent whose spawning call is not known (yet). */
export interface AgentEntry {
  type: 'agent';
  agent: string;
}

export interface TurnEntry {
  type: 'turn';
  turn: TurnComplete;
}

/** A message to the agent, or an error. */
export interface NoteEntry {
  type: 'note';
  kind: 'given' | 'error';
  text: string;
}

/** The key of the main agent. */
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
