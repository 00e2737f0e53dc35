import { planOf, type Question, questionsOf } from '@fleetloom/protocol/fleet';
import type { ThreadRow } from '../fleet/thread-rows.ts';
import type { CustomTools } from './session-facts.ts';

/** Something that waits for somebody: leave to do it, or the result of a tool that somebody else has. */
export interface Ask {
  readonly type: 'approval' | 'result';
  readonly toolUseId: string;
  readonly tool: string;
  /** Whole, because who decides must see all of it. */
  readonly input: unknown;
  /** The text of the plan that is to be approved; null where it is something else. */
  readonly plan: string | null;
  /** What the program wants to know; none where it is something else. */
  readonly questions: readonly Question[];
  readonly agent: string;
  /** Of the row that it belongs to. */
  readonly key: string;
  /** Who waits for it, the coordinator first and who asks last. */
  readonly path: readonly string[];
  readonly askedAt: number | null;
  /** The rule by which it is answered, as the log is told. */
  readonly rule?: string;
}

/** A call whose end has not been told, with all of its input. */
export interface OpenCall {
  readonly tool: string;
  readonly input: unknown;
  readonly startedAt: number | null;
}

export interface AsksOptions {
  readonly rows: readonly ThreadRow[];
  readonly calls: ReadonlyMap<string, OpenCall>;
  readonly customTools: CustomTools;
  readonly nowMs: number;
}

/** All that waits, what holds up most for longest first. */
export function toAsks({ rows, calls, customTools, nowMs }: AsksOptions): readonly Ask[] {
  const path: string[] = [];
  const asks = rows.flatMap((row) => {
    path.splice(row.branches.length);
    path.push(row.agent);
    return asksOf(row, path.slice(), calls, customTools);
  });
  const weigh = ({ path: waiting, askedAt }: Ask) => waiting.length * (nowMs - (askedAt ?? nowMs));
  return asks.toSorted((left, right) => weigh(right) - weigh(left));
}

function asksOf(
  row: ThreadRow,
  path: readonly string[],
  calls: ReadonlyMap<string, OpenCall>,
  customTools: CustomTools,
): Ask[] {
  const { key, agent, threadId, approvals, slot } = row;
  const approvalAsks = approvals.map((approval): Ask => {
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
  // Streams of older servers do not tell which calls wait for a result; the agent's definition does, except for questions.
  const custom = threadId === null ? undefined : customTools.get(threadId);
  const resultAsks = slot.tools.flatMap(
    ({ toolUseId, tool, state, awaitsResult = custom?.has(tool) === true }): Ask[] => {
      const call = state === 'running' && awaitsResult ? calls.get(toolUseId) : undefined;
      if (call === undefined) return [];
      const { input, startedAt: askedAt } = call;
      return [
        { type: 'result', toolUseId, tool, input, plan: null, questions: questionsOf(call), agent, key, path, askedAt },
      ];
    },
  );
  return [...approvalAsks, ...resultAsks];
}
