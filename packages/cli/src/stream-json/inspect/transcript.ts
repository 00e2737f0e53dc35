import { type AgentEvent, type TurnComplete } from '@fleetloom/protocol/stream-json';
import {
  type AgentTree,
  createTree,
  foldEvent,
  type TreeThread,
  type TreeToolResult,
} from '@fleetloom/protocol/stream-json/tree';
import { foldOverview } from '../overview/fold-overview.ts';
import { durationBetween, type Moment, parseLineTime } from '../overview/moment.ts';
import { createOverview, type Overview } from '../overview/overview.ts';

/** A whole run: the tree of the library, and facts that belong to no item of the tree. */
export interface Transcript {
  tree: AgentTree;
  /** States, times and tokens of the agents. */
  overview: Overview;
  /** Start times of tool calls, from the timestamps of the lines. */
  callStarts: Map<string, Moment>;
  callTimesMs: Map<string, number>;
  results: Map<string, TreeToolResult>;
  turns: TurnComplete[];
  /** Reports of agents by thread. */
  reports: Map<string, string[]>;
}

/** An empty transcript. */
export function createTranscript(): Transcript {
  return {
    tree: createTree(),
    overview: createOverview('line'),
    callStarts: new Map(),
    callTimesMs: new Map(),
    results: new Map(),
    turns: [],
    reports: new Map(),
  };
}

/** Adds one event to the transcript. */
export function foldTranscript(transcript: Transcript, event: AgentEvent): void {
  const { tree, overview, callStarts, callTimesMs, results, turns, reports } = transcript;
  foldEvent(tree, event);
  foldOverview(overview, event);
  const at = { lineMs: parseLineTime(event.ts) } as Moment;
  if (event.type === 'tool_use_start' || event.type === 'tool_use') {
    if (!callStarts.has(event.toolUseId)) callStarts.set(event.toolUseId, at);
  } else if (event.type === 'tool_result') {
    const tookMs = durationBetween('line', callStarts.get(event.toolUseId) ?? {}, at);
    if (tookMs !== undefined) callTimesMs.set(event.toolUseId, tookMs);
    const result = tree.toolResults.at(-1);
    if (result) results.set(event.toolUseId, result);
  } else if (event.type === 'turn_complete') {
    turns.push(event);
  } else if (event.type === 'thread_report' && event.summary) {
    reports.set(event.thread, [...(reports.get(event.thread) ?? []), event.summary]);
  }
}

/** The agents below a thread: by the tool call that spawned them if the call is among the items of the thread, else in `others`. */
export interface Children {
  byCall: Map<string, TreeThread>;
  others: TreeThread[];
}

/** Children by the key of their parent thread. The overview guarantees that there are no cycles. */
export function indexChildren({ tree, overview }: Transcript): Map<string, Children> {
  const callOf = new Map([...overview.spawnedBy].map(([call, key]) => [key, call]));
  const calls = new Map<string, string>();
  for (const thread of tree.threads) {
    for (const item of thread.items) if (item.kind === 'tool_use') calls.set(item.id, thread.key);
  }
  const children = new Map<string, Children>();
  for (const thread of tree.threads) {
    const parent = overview.agents.get(thread.key)?.parent;
    if (parent === null || parent === undefined) continue;
    const siblings = children.get(parent) ?? { byCall: new Map<string, TreeThread>(), others: [] };
    children.set(parent, siblings);
    const call = callOf.get(thread.key);
    if (call !== undefined && calls.get(call) === parent) siblings.byCall.set(call, thread);
    else siblings.others.push(thread);
  }
  return children;
}
