import type { Capabilities, FoundProgram } from '@fleetloom/server';
import type { Finding } from './finding.ts';

/**
 * What there is to say about the claude program: which one it is, what it can do, and what is missing. `noGateway` is why
 * the text of its sub-agents cannot be seen growing, if it cannot.
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

/** Nobody needs the program who does not ask for it; one that is there and does not work is another matter. */
function toProblem({ problem: { reason, problem, advice } }: Extract<FoundProgram, { type: 'problem' }>): Finding {
  const fix = `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`;
  if (reason !== 'not_found') return { name: NAME, state: 'problem', text: problem, fix };
  return { name: NAME, state: 'note', text: `${problem}: models such as claude-code/default are refused`, fix };
}

/** What people notice, and when a release has it. */
const features: readonly (readonly [name: string, holds: (supports: Capabilities) => boolean])[] = [
  ['approvals, custom tools, MCP servers, stopping one sub-agent, follow-ups', () => true],
  ['text of sub-agents', ({ forwardsSubagentText: holds }) => holds],
  ['text of agents that agents start, unless the gateway sees it', ({ forwardsNestedText: holds }) => holds],
  ['agents in the background survive an interrupt', ({ sparesBackgroundAgents: holds }) => holds],
  ['a limit on how deep agents start agents', ({ canLimitSpawnDepth: holds }) => holds],
  ['which message became part of which turn', ({ tellsPromptLifecycle: holds }) => holds],
];

function toMissing(version: string, missing: readonly string[]): Finding {
  const text = `${version} does not have: ${missing.join('; ')}`;
  return { name: NAME, state: 'note', text, fix: 'Update it (claude update).' };
}

function toBlockwise(reason: string): Finding {
  return { name: NAME, state: 'note', text: reason, fix: 'Unset it for the server if that is not wanted.' };
}
