import type { FleetSessionSort, FleetSessionState, StoredSessionState } from '@fleetloom/protocol/fleet';
import type { JsonObject } from '../base/json/json.ts';

/**
 * A session in one row, kept beside its record in the same commit as the frames that change it, so that lists of all sessions neither
 * fold logs nor read records, which are large.
 */
export interface SessionSummary {
  readonly state: StoredSessionState;
  /** When a running session counts as stalled; null while nothing waits for a model. */
  readonly stallsAt: number | null;
  readonly agentName: string;
  readonly model: string;
  /** Later summaries of a session do not change it. */
  readonly createdAt: number;
  readonly activityAt: number;
  /** Null if it is not known. */
  readonly costNanoUsd: number | null;
  readonly tokens: number;
  readonly activeMs: number;
  /** The searched text, in lower case. It begins with the name, by which lists are sorted. */
  readonly search: string;
  /** Data that queries do not use. */
  readonly data: object;
}

/** A summary as the store returns it. */
export interface SummaryRecord extends Omit<SessionSummary, 'data' | 'search'> {
  readonly sessionId: string;
  readonly data: JsonObject;
}

/** The summaries of sessions. They change by writes, and go with their sessions. */
export interface Summaries {
  list(request: SummaryListRequest): Promise<SummaryList>;
  /** Cost and tokens of all sessions that were created in a period, by day, agent and model; the newest day first. At most `limit` groups. */
  sum(request: SummarySumRequest): Promise<readonly SummarySum[]>;
  /** The summaries of those sessions that are in the workspace, in any order. */
  getAll(workspaceId: string, sessionIds: readonly string[]): Promise<readonly SummaryRecord[]>;
  /** The ids of sessions that have none, because an older version wrote them. */
  findMissing(limit: number): Promise<readonly string[]>;
  /** Adds the summary of a session that has none, with the time at which the session was created. Does nothing if it has one, or does not exist. */
  add(sessionId: string, summary: SessionSummary): Promise<void>;
}

/** Which sessions are listed and counted. Absent fields match every session. */
export interface SummaryFilter {
  readonly workspaceId: string;
  /** Each has to be in the searched text. Lower case. */
  readonly words?: readonly string[] | undefined;
  /** The beginning of the id; sessions that have the words match as well. */
  readonly wordsOrIdPrefix?: string | undefined;
  readonly idPrefix?: string | undefined;
  readonly activeFrom?: number | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  readonly costNanoUsdMin?: number | undefined;
  /** Sessions with a budget, by `budget_state` of their data. */
  readonly budgetState?: string | undefined;
}

/** A page of summaries. */
export interface SummaryListRequest extends SummaryFilter {
  /** The time for which states are computed. */
  readonly now: number;
  readonly states?: readonly FleetSessionState[] | undefined;
  readonly agents?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly includesArchived: boolean;
  readonly sort: FleetSessionSort;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page, and the counts of everything that the filter matches. */
export interface SummaryList {
  readonly items: readonly SummaryRecord[];
  readonly next: string | null;
  /** Counts of the filter without its states, agents and models. */
  readonly groups: readonly SummaryGroup[];
  /** Sessions of the workspace without a summary. */
  readonly missing: number;
}

/** How many sessions have this state, agent and model. */
export interface SummaryGroup {
  readonly state: FleetSessionState;
  readonly agentName: string;
  readonly model: string;
  readonly count: number;
}

/** Which sessions are summed up, archived ones included. */
export interface SummarySumRequest {
  readonly workspaceId: string;
  readonly createdFrom: number;
  readonly createdTo: number;
  /** Offset of local time from UTC in ms, added to times before they are divided into days. A whole number. */
  readonly offsetMs: number;
  readonly limit: number;
}

/** The sums of the sessions of one day, agent and model. */
export interface SummarySum {
  /** Whole days since 1970-01-01 in local time. */
  readonly day: number;
  readonly agentName: string;
  readonly model: string;
  readonly count: number;
  /** Sessions whose cost is not known; they are not part of the sum. */
  readonly unpriced: number;
  readonly costNanoUsd: number;
  readonly tokens: number;
}

/** The length of a day. */
export const DAY_MS = 86_400_000;

/** Sorted by state, sessions of one state are sorted by activity: this is more than any time in milliseconds. */
export const STATE_RANK_STEP = 100_000_000_000_000;
