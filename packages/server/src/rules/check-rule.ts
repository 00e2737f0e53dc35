import type { RuleMatch } from '@fleetloom/protocol/fleet';
import { canHaveRules, ruleSubjectOf, toSimpleCommand } from '@fleetloom/protocol/rules';
import { isDeeper } from '../base/json/is-deeper.ts';
import { baseLimits } from '../base/limits.ts';
import { PatternError } from '../base/linear-regex.ts';
import { compileCommand, compilePath } from './compile-pattern.ts';
import { ruleLimits } from './limits.ts';
import { toPlainPath } from './resolve-inside.ts';

/** Why there cannot be such a rule; null if there can. */
export function findRuleProblem(tool: string, match: RuleMatch): string | null {
  if (!canHaveRules(tool)) return `tool: calls of ${tool} are always decided by a person`;
  // A tool of an MCP server is named with its server, so that it is none of those with a command or a path.
  const { type: wanted } = ruleSubjectOf(tool);
  if (wanted !== (match.type === 'any' ? 'input' : match.type)) {
    const forms = wanted === 'input' ? '`input` or `any`' : `\`${wanted}\``;
    return `match.type: a rule about ${tool} needs ${forms}, not \`${match.type}\``;
  }
  if (match.type === 'input') return findInputProblem(match.input);
  return 'pattern' in match ? findPatternProblem(match) : null;
}

function findInputProblem(input: unknown): string | null {
  if (isDeeper(input, baseLimits.contentDepthMax)) return 'match.input: is nested too deeply';
  const bytes = Buffer.byteLength(JSON.stringify(input) ?? '');
  if (bytes <= ruleLimits.ruleInputBytesMax) return null;
  return `match.input: has ${bytes} bytes, and ${ruleLimits.ruleInputBytesMax} are allowed`;
}

function findPatternProblem({ type, pattern }: Extract<RuleMatch, { readonly pattern: string }>): string | null {
  const problem = type === 'command' ? findCommandProblem(pattern) : findPathProblem(pattern);
  if (problem !== null) return `match.pattern: ${problem}`;
  try {
    (type === 'command' ? compileCommand : compilePath)(pattern);
    return null;
  } catch (error) {
    if (error instanceof PatternError) return `match.pattern: ${error.message}`;
    throw error;
  }
}

function findCommandProblem(pattern: string): string | null {
  const [program = ''] = pattern.split(' ');
  if (program.includes('*')) return `begins with ${JSON.stringify(program)}: name the program without *`;
  // A letter in the place of a star changes nothing about the form of a command.
  if (toSimpleCommand(pattern.replaceAll('*', 'x')) === pattern.replaceAll('*', 'x')) return null;
  return 'is not one simple command: use plain words with single spaces, without quotes, operators, variables or redirections';
}

function findPathProblem(pattern: string): string | null {
  if (!pattern.startsWith('/') && toPlainPath(pattern, []) === pattern) return null;
  return 'is not a path from the workspace on: use printable ASCII without `..`, `~`, backslashes and a leading slash';
}
