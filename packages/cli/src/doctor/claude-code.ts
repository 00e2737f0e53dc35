import type { Capabilities, FoundProgram } from '@fleetloom/server';
import type { Finding } from './finding.ts';

/**
 * What there is to say about the claude program: which one it is, what it can do, and what is missing. `noGateway` is why
 * the text of its sub-agents cannot be seen growing, if it cannot.
 */
export function describeClaudeCode(found: FoundProgram, noGateway: string | undefined): readonly Finding[] {
  if (found.type === 'problem') return [toProblem(found)];
  const { path, version, supports } = found.program;
  const missing = listMissing(supports);
  return [
    { name: NAME, state: 'ok', text: `${version} (${path}): sessions on claude-code/default run on it` },
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

function listMissing(supports: Capabilities): string[] {
  return [
    ...(supports.forwardsNestedText ? [] : ['text of agents that agents start, unless the gateway sees it']),
    ...(supports.sparesBackgroundAgents ? [] : ['agents in the background survive an interrupt']),
    ...(supports.canLimitSpawnDepth ? [] : ['a limit on how deep agents start agents']),
    ...(supports.tellsPromptLifecycle ? [] : ['which message became part of which turn']),
  ];
}

function toMissing(version: string, missing: readonly string[]): Finding {
  const text = `${version} does not have: ${missing.join('; ')}`;
  return { name: NAME, state: 'note', text, fix: 'Update it (claude update).' };
}

function toBlockwise(reason: string): Finding {
  return { name: NAME, state: 'note', text: reason, fix: 'Unset it for the server if that is not wanted.' };
}
