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

/** A whole run for reading: the library's tree, and what the tree leaves out because it belongs to no item. */
export interface Transcript {
  tree: AgentTree;
  /** States, times and tokens of the agents. */
  overview: Overview;
  /** Moments of calls, from the lines' own times. */
  callStarts: Map<string, Moment>;
  callTimesMs: Map<string, number>;
  results: Map<string, TreeToolResult>;
  turns: TurnComplete[];
  /** What agents handed back, by thread. */
  reports: Map<string, string[]>;
}

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

/** The agents below a thread: by the call that spawned them where it is among its items, and the others. */
export interface Children {
  byCall: Map<string, TreeThread>;
  others: TreeThread[];
}

/** Where each agent hangs, by the key of the thread above it. The overview has settled that: no agent is above itself. */
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
