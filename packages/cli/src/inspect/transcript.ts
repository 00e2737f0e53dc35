import {
  type AgentEvent,
  type AgentTree,
  createTree,
  foldEvent,
  type TreeThread,
  type TreeToolResult,
  type TurnComplete,
} from '@fleetloom/protocol/stream-json';
import { foldOverview } from '../overview/fold-overview.ts';
import { durationBetween, type Moment, parseLineTime } from '../overview/moment.ts';
import { createOverview, MAIN, type Overview } from '../overview/overview.ts';

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

/** The agents of a thread: by the call that spawned them where it is among its items, and the others. */
export function childrenOf(
  transcript: Transcript,
  thread: TreeThread,
): { byCall: Map<string, TreeThread>; others: TreeThread[] } {
  const calls = new Set(thread.items.map((item) => (item.kind === 'tool_use' ? item.id : undefined)));
  const byCall = new Map<string, TreeThread>();
  const others: TreeThread[] = [];
  const callOf = new Map([...transcript.overview.spawnedBy].map(([call, key]) => [key, call]));
  for (const child of transcript.tree.threads) {
    // An agent whose parent never became known hangs on the main agent.
    if (child.key === MAIN || (child.parent ?? MAIN) !== thread.key) continue;
    const call = callOf.get(child.key);
    if (call !== undefined && calls.has(call)) byCall.set(call, child);
    else others.push(child);
  }
  return { byCall, others };
}
