import { planOf, type Question, questionsOf, type ThreadRow } from '@fleetloom/protocol/fleet';
import type { CustomTools } from './session-facts.ts';

/** A tool call that waits for the user: for an approval, or for the result of a question or custom tool. */
export interface PendingCall {
  readonly type: 'approval' | 'result';
  readonly toolUseId: string;
  readonly tool: string;
  /** The whole input, which must be visible before a decision. */
  readonly input: unknown;
  /** The plan to approve; null for other tool calls. */
  readonly plan: string | null;
  /** The questions; empty for other tool calls. */
  readonly questions: readonly Question[];
  readonly agent: string;
  /** The key of the thread's row. */
  readonly key: string;
  /** The agents whose threads wait for the call, from the coordinator down to the requesting one. */
  readonly path: readonly string[];
  readonly askedAt: number | null;
  /** The rule that decides the call, for the log. */
  readonly rule?: string;
}

/** An open tool call with its whole input. */
export interface OpenCall {
  readonly tool: string;
  readonly input: unknown;
  readonly startedAt: number | null;
}

/** Options of {@link toPendingCalls}. */
export interface PendingCallsOptions {
  readonly rows: readonly ThreadRow[];
  readonly calls: ReadonlyMap<string, OpenCall>;
  readonly customTools: CustomTools;
  readonly nowMs: number;
}

/** All pending tool calls, the most blocking and oldest first. */
export function toPendingCalls({ rows, calls, customTools, nowMs }: PendingCallsOptions): readonly PendingCall[] {
  const path: string[] = [];
  const pendingCalls = rows.flatMap((row) => {
    path.splice(row.branches.length);
    path.push(row.agent);
    return pendingCallsOf(row, path.slice(), calls, customTools);
  });
  const weigh = ({ path: waiting, askedAt }: PendingCall) => waiting.length * (nowMs - (askedAt ?? nowMs));
  return pendingCalls.toSorted((left, right) => weigh(right) - weigh(left));
}

function pendingCallsOf(
  row: ThreadRow,
  path: readonly string[],
  calls: ReadonlyMap<string, OpenCall>,
  customTools: CustomTools,
): PendingCall[] {
  const { key, agent, threadId, approvals, slot } = row;
  const approvalCalls = approvals.map((approval): PendingCall => {
    const { toolUseId, tool, input, askedAt } = approval;
    return {
      type: 'approval',
      toolUseId,
      tool,
      input,
      plan: planOf(approval),
      questions: [],
      agent,
      key,
      path,
      askedAt,
    };
  });
  // Older servers do not report which calls wait for a result; the agent definition does, except for questions.
  const custom = threadId === null ? undefined : customTools.get(threadId);
  const resultCalls = slot.tools.flatMap(
    ({ toolUseId, tool, state, awaitsResult = custom?.has(tool) === true }): PendingCall[] => {
      const call = state === 'running' && awaitsResult ? calls.get(toolUseId) : undefined;
      if (call === undefined) return [];
      const { input, startedAt: askedAt } = call;
      return [
        { type: 'result', toolUseId, tool, input, plan: null, questions: questionsOf(call), agent, key, path, askedAt },
      ];
    },
  );
  return [...approvalCalls, ...resultCalls];
}
