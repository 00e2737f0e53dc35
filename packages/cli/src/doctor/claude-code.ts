import type { Capabilities, FoundProgram } from '@fleetloom/server';
import type { Finding } from './finding.ts';

/**
 * Findings about Claude Code: its version, its features, and what is missing. `noGateway` is the reason why text of
 * sub-agents does not stream token by token; undefined if it does.
 */
export function describeClaudeCode(found: FoundProgram, noGateway: string | undefined): readonly Finding[] {
  if (found.type === 'problem') return [toProblem(found)];
  const { path, version, supports } = found.program;
  const has = features.filter(([, holds]) => holds(supports)).map(([name]) => name);
  const missing = features.filter(([, holds]) => !holds(supports)).map(([name]) => name);
  const live = noGateway === undefined ? ['live text of every agent, token by token'] : [];
  return [
    { name: NAME, state: 'ok', text: `${version} (${path}): sessions on claude-code/default run on it` },
    { name: NAME, state: 'ok', text: `${version} supports: ${[...live, ...has].join('; ')}` },
    ...(missing.length === 0 ? [] : [toMissing(version, missing)]),
    ...(noGateway === undefined ? [] : [toBlockwise(noGateway)]),
  ];
}

const NAME = 'Claude Code';

/** Claude Code is optional: its absence is a note, but an installed one that does not work is a problem. */
function toProblem({ problem: { reason, problem, advice } }: Extract<FoundProgram, { type: 'problem' }>): Finding {
  const fix = `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`;
  if (reason !== 'not_found') return { name: NAME, state: 'problem', text: problem, fix };
  return { name: NAME, state: 'note', text: `${problem}: models such as claude-code/default are not available`, fix };
}

/** Features that users notice, and which releases have them. */
const features: readonly (readonly [name: string, holds: (supports: Capabilities) => boolean])[] = [
  ['approvals, custom tools, MCP servers, interrupting one sub-agent, follow-up messages', () => true],
  ['text of sub-agents', ({ forwardsSubagentText: holds }) => holds],
  ['text of nested sub-agents, if the gateway is off', ({ forwardsNestedText: holds }) => holds],
  ['background agents survive an interrupt', ({ sparesBackgroundAgents: holds }) => holds],
  ['a depth limit for sub-agents', ({ canLimitSpawnDepth: holds }) => holds],
  ['the turn that each message belongs to', ({ reportsPromptLifecycle: holds }) => holds],
];

function toMissing(version: string, missing: readonly string[]): Finding {
  const text = `${version} lacks: ${missing.join('; ')}`;
  return { name: NAME, state: 'note', text, fix: 'Update Claude Code: claude update.' };
}

function toBlockwise(reason: string): Finding {
  return { name: NAME, state: 'note', text: reason, fix: 'Unset it for the server to stream token by token.' };
}
