import type { AgentEvent } from '@fleetloom/protocol/stream-json';
import type { Usage } from '../../../model/engine.ts';
import { addUsage as addReported, noUsage } from '../../../model/usage.ts';
import { toJson } from '../../lines/values.ts';

export { noUsage } from '../../../model/usage.ts';

/** Adds the usage of a line to the known usage: its counts are totals, and a missing count changes nothing. */
export function toUsage(usage: Record<string, unknown> | undefined, known: Usage): Usage {
  return usage === undefined ? known : addReported(known, toJson(usage));
}

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return combine(a, b, (x, y) => x + y);
}

/** The first usage minus the second; 0 for counts where the second is larger. */
export function subtractUsage(a: Usage, b: Usage): Usage {
  return combine(a, b, (x, y) => Math.max(0, x - y));
}

function combine(a: Usage, b: Usage, join: (x: number, y: number) => number): Usage {
  return {
    inputTokens: join(a.inputTokens, b.inputTokens),
    outputTokens: join(a.outputTokens, b.outputTokens),
    cacheReadTokens: join(a.cacheReadTokens, b.cacheReadTokens),
    cacheWrite5mTokens: join(a.cacheWrite5mTokens, b.cacheWrite5mTokens),
    cacheWrite1hTokens: join(a.cacheWrite1hTokens, b.cacheWrite1hTokens),
  };
}

/** Converts the usage that a program reports for a turn. */
export function toTurnUsage(usage: Extract<AgentEvent, { type: 'turn_complete' }>['usage']): Usage {
  if (usage === undefined) return noUsage;
  const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens } = usage;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens: cacheCreationTokens, cacheWrite1hTokens: 0 };
}
