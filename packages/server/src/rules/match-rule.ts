import { canHaveRules, leavesDirectory, ruleSubjectOf, toSimpleCommand } from '@fleetloom/protocol/rules';
import type { WorkBudget } from '../base/bounded-pattern.ts';
import { canonicalSha256 } from '../base/json/canonical-sha256.ts';
import { isObject, type Json, type JsonObject } from '../base/json/json.ts';
import { PatternError } from '../base/linear-regex.ts';
import { compileCommand, compilePath, isComparable } from './compile-pattern.ts';
import type { Rule } from './rule.ts';

/** A tool call that waits for a decision. */
export interface AskedCall {
  readonly sessionId: string;
  readonly agentId: string;
  readonly agentName: string;
  /** As approvals name it. Null: the name could be that of another tool too. */
  readonly tool: string | null;
  /** A tool of an MCP server: the meaning of its input is unknown. */
  readonly isForeign: boolean;
  readonly input: Json;
  /** The possible paths relative to the workspace; empty if the path may be outside. */
  readonly toInside: (path: string) => Promise<readonly string[]>;
}

/** The name of a tool as approvals show it; null if a tool of another server could have the same one. */
export function toShownTool(name: string, serverName: string | null): string | null {
  if ((serverName ?? name).includes(': ')) return null;
  return serverName === null ? name : `${serverName}: ${name}`;
}

/** Whether the rule allows the call. Whatever it cannot read for certain is a no. */
export async function matchesRule(rule: Rule, call: AskedCall, now: number, budget: WorkBudget): Promise<boolean> {
  if (!isInScope(rule, call) || (rule.expiresAt !== null && rule.expiresAt <= now)) return false;
  try {
    return await matchesInput(rule, call, budget);
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

function isInScope({ scope, agentName, tool }: Rule, call: AskedCall): boolean {
  if (call.tool === null || call.tool !== tool || !canHaveRules(tool)) return false;
  if (agentName !== null && agentName !== call.agentName) return false;
  return scope.type === 'session' ? scope.session_id === call.sessionId : scope.agent_id === call.agentId;
}

async function matchesInput({ match, tool }: Rule, call: AskedCall, budget: WorkBudget): Promise<boolean> {
  const { input, isForeign } = call;
  const subject = isForeign ? ({ type: 'input' } as const) : ruleSubjectOf(tool);
  if (subject.type === 'input') {
    return match.type === 'any' || (match.type === 'input' && isSame(match.input as Json, input));
  }
  if (match.type !== subject.type || !('pattern' in match) || !isObject(input)) return false;
  if (subject.type === 'command') {
    const { field, others } = subject;
    if (!hasOnly(input, [field], others) || !(await isInside(input['cwd'], call))) return false;
    return matchesCommand(match.pattern, input[field], budget);
  }
  const [field, ...more] = subject.fields.filter((each) => Object.hasOwn(input, each));
  if (field === undefined || more.length > 0 || !hasOnly(input, [field], subject.others)) return false;
  return await matchesPath(match.pattern, input[field], call, budget);
}

function isSame(wanted: Json, input: Json): boolean {
  return canonicalSha256(wanted) === hashOf(input);
}

/** Cached: an input may have megabytes, and is compared with a hundred rules. */
function hashOf(input: Json): string {
  if (typeof input !== 'object' || input === null) return canonicalSha256(input);
  const known = hashes.get(input) ?? canonicalSha256(input);
  hashes.set(input, known);
  return known;
}

const hashes = new WeakMap<object, string>();

/** A field that is not known may change what the call does. One that is null or false counts as left out. */
function hasOnly(input: JsonObject, fields: readonly string[], others: readonly string[]): boolean {
  const isKnown = (name: string) => fields.includes(name) || others.includes(name);
  return Object.entries(input).every(([name, value]) => isKnown(name) || value === null || value === false);
}

async function isInside(directory: Json | undefined, { toInside }: AskedCall): Promise<boolean> {
  if (directory === undefined || directory === null) return true;
  return typeof directory === 'string' && (await toInside(directory)).length > 0;
}

function matchesCommand(pattern: string, value: Json | undefined, budget: WorkBudget): boolean {
  if (typeof value !== 'string' || !isComparable(value)) return false;
  const command = toSimpleCommand(value);
  if (command === null) return false;
  // A star allows no file elsewhere: such a word has to be written out in the rule.
  const literal = new Set(pattern.split(' ').filter((word) => !word.includes('*')));
  if (command.split(' ').some((word) => leavesDirectory(word) && !literal.has(word))) return false;
  return compileCommand(pattern).test(command, budget);
}

async function matchesPath(
  pattern: string,
  value: Json | undefined,
  { toInside }: AskedCall,
  budget: WorkBudget,
): Promise<boolean> {
  if (typeof value !== 'string' || !isComparable(value)) return false;
  const compiled = compilePath(pattern);
  const paths = await toInside(value);
  return paths.some((path) => path !== '' && isComparable(path) && compiled.test(path, budget));
}
