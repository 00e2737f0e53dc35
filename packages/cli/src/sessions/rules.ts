import type {
  CreatedRule,
  RuleMatch,
  RulePreview,
  RuleScope,
  StandingRule,
  StandingRuleList,
  StandingRuleParams,
} from '@fleetloom/protocol/fleet';
import { ruleSubjectOf } from '@fleetloom/protocol/rules';
import type { Agent } from '@fleetloom/protocol/managed-agents';
import { cleanLine, formatAge, plural } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { limits } from '../base/limits.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { printTable } from '../terminal/print-table.ts';

/** Options of `rules add`. */
export interface AddRuleOptions extends ConnectionOptions {
  tool: string;
  agent?: string;
  by?: string;
  until?: string;
  dryRun?: boolean;
}

/** `fleetloom rules list`. */
export async function listRules(io: Io, options: ConnectionOptions & { json?: boolean }): Promise<number> {
  const api = openApi(io, options);
  const { data } = await api.get<StandingRuleList>(PATH);
  const now = api.clock.toServerTime(io.timers.now());
  if (options.json === true) {
    await writeText(io.stdout, data.map((rule) => `${toJsonText(io.stdout, rule)}\n`).join(''));
    return exitCode.ok;
  }
  const rows = data.map((rule) => toCells(rule, now));
  if (rows.length > 0) await printTable(io, ['RULE', 'ALLOWS', 'FOR', 'IN', 'CREATED BY', 'AGE'], rows);
  io.stderr.write(`${plural(data.length, 'rule')}.\n`);
  return exitCode.ok;
}

/** `fleetloom rules add`. */
export async function addRule(
  io: Io,
  pattern: string,
  session: string | undefined,
  options: AddRuleOptions,
): Promise<number> {
  const api = openApi(io, options);
  const { tool, by, until } = options;
  const params: StandingRuleParams = {
    scope: await toScope(api, session, options.agent),
    tool,
    match: toMatch(tool, pattern),
    ...(by === undefined ? {} : { agent_name: by }),
    ...(until === undefined ? {} : { expires_at: toTime(until) }),
  };
  if (options.dryRun === true) {
    const { text, matches } = await api.post<RulePreview>(`${PATH}/preview`, params);
    io.stderr.write(`${cleanLine(text)} matches ${plural(matches, 'pending approval')}. Nothing was added.\n`);
    return exitCode.ok;
  }
  const { id, text, answered } = await api.post<CreatedRule>(PATH, params);
  io.stderr.write(`The server now allows ${cleanLine(text)}. ${plural(answered, 'pending approval')} answered.\n`);
  await writeText(io.stdout, `${id}\n`);
  return exitCode.ok;
}

/** `fleetloom rules remove`. */
export async function removeRules(io: Io, ids: readonly string[], options: ConnectionOptions): Promise<number> {
  const api = openApi(io, options);
  for (const id of ids) {
    const signal = AbortSignal.timeout(limits.callMs);
    await api.open(`${PATH}/${encodeURIComponent(id)}`, { method: 'DELETE', signal });
    await writeText(io.stdout, `${id}\n`);
  }
  return exitCode.ok;
}

const PATH = '/v1/fleet/approval_rules';

function openApi(io: Io, options: ConnectionOptions): ServerApi {
  return createServerApi(toConnection(io.env, options), limits.callMs, () => io.timers.now());
}

function toCells({ id, text, agent_name: name, scope, created_by: by, created_at: at }: StandingRule, nowMs: number) {
  const place = scope.type === 'session' ? scope.session_id : 'every session';
  const agent = scope.type === 'agent' ? scope.agent_id : 'every agent';
  return [id, text, name ?? agent, place, by, formatAge(nowMs - Date.parse(at))];
}

/** The session or agent of a rule. Without one, the rule would apply to every session. */
async function toScope(api: ServerApi, session: string | undefined, agent: string | undefined): Promise<RuleScope> {
  if ((session === undefined) === (agent === undefined)) {
    throw new UsageError('A rule holds for one session or one agent.', 'Pass a session id, or --agent with a name.');
  }
  if (session !== undefined) return { type: 'session', session_id: session };
  if (agent!.startsWith('agent_')) return { type: 'agent', agent_id: agent! };
  for await (const { id, name } of api.list<Agent>('/v1/agents')) {
    if (name === agent) return { type: 'agent', agent_id: id };
  }
  const fix = '"fleetloom agents list" lists the agents of the server.';
  throw new CommandError(exitCode.notFound, `There is no agent ${cleanLine(agent!)}.`, fix);
}

function toMatch(tool: string, pattern: string): RuleMatch {
  const { type } = ruleSubjectOf(tool);
  if (type !== 'input') return { type, pattern };
  if (pattern === '*') return { type: 'any' };
  try {
    return { type, input: JSON.parse(pattern) as unknown };
  } catch {
    const fix = `Pass the exact input, such as '{"url":"https://example.com"}', or '*' for every input.`;
    throw new UsageError(`A rule about ${cleanLine(tool)} compares the whole input, and the pattern is not JSON.`, fix);
  }
}

function toTime(text: string): string {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new UsageError(`--until: ${cleanLine(text)} is not a time.`, 'Pass a time such as 2026-12-31T18:00:00Z.');
}
