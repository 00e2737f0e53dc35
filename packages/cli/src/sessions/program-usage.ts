import { formatCost, formatCount } from '@fleetloom/protocol/text';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { printTable } from '../terminal/print-table.ts';
import { writeText } from '../base/write-text.ts';

/** Options of `fleetloom program usage` and `diff`. */
export interface ProgramOutputOptions extends ConnectionOptions {
  json?: boolean;
}

interface ProgramUsage {
  readonly cost_usd: number | null;
  readonly models: readonly {
    readonly model: string;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cache_read_input_tokens: number;
    readonly cache_creation_input_tokens: number;
    readonly cost_usd: number | null;
  }[];
  readonly plan_limits: readonly {
    readonly name: string;
    readonly used_percent: number;
    readonly resets_at: string | null;
  }[];
}

/** `fleetloom program usage`: prints one row for each model, and one for each limit of the plan. */
export async function programUsage(io: Io, session: string, options: ProgramOutputOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const usage = await api.get<ProgramUsage>(`/v1/sessions/${encodeURIComponent(session)}/program/usage`);
  if (options.json === true) {
    await writeText(io.stdout, `${toJsonText(io.stdout, usage)}\n`);
    return exitCode.ok;
  }
  const rows = usage.models.map((used) => [
    used.model,
    formatCount(used.input_tokens + used.cache_read_input_tokens + used.cache_creation_input_tokens),
    formatCount(used.output_tokens),
    used.cost_usd === null ? '' : formatCost(used.cost_usd),
  ]);
  await printTable(io, ['MODEL', 'INPUT', 'OUTPUT', 'COST'], rows);
  if (usage.plan_limits.length > 0) {
    const limits = usage.plan_limits.map(({ name, used_percent, resets_at }) => [
      name,
      `${used_percent} %`,
      resets_at ?? '',
    ]);
    await printTable(io, ['PLAN LIMIT', 'USED', 'RESETS'], limits);
  }
  return exitCode.ok;
}
