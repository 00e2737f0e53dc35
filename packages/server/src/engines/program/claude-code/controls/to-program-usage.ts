import type { ModelUsage, ProgramUsage } from '../../program-controls.ts';
import { number, record, text } from '../../lines/values.ts';

/** Reads the response to `get_usage`. The program declares its format experimental, so each field may be absent. */
export function toProgramUsage(response: Record<string, unknown>): ProgramUsage {
  const session = record(response['session']) ?? {};
  return {
    type: 'usage',
    costUsd: number(session['total_cost_usd']) ?? null,
    linesAdded: number(session['total_lines_added']) ?? null,
    linesRemoved: number(session['total_lines_removed']) ?? null,
    models: Object.entries(record(session['model_usage']) ?? {}).map(([model, used]) =>
      toModel(model, record(used) ?? {}),
    ),
    planLimits: Object.entries(record(response['rate_limits']) ?? {}).flatMap(([name, window]) =>
      toLimit(name, record(window) ?? {}),
    ),
  };
}

function toModel(model: string, used: Record<string, unknown>): ModelUsage {
  return {
    model,
    inputTokens: number(used['inputTokens']) ?? 0,
    outputTokens: number(used['outputTokens']) ?? 0,
    cacheReadTokens: number(used['cacheReadInputTokens']) ?? 0,
    cacheWriteTokens: number(used['cacheCreationInputTokens']) ?? 0,
    costUsd: number(used['costUSD']) ?? null,
  };
}

function toLimit(name: string, window: Record<string, unknown>): ProgramUsage['planLimits'] {
  const usedPercent = number(window['utilization']);
  return usedPercent === undefined ? [] : [{ name, usedPercent, resetsAt: text(window['resets_at']) ?? null }];
}
