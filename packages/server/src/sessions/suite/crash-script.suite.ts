import type { AgentSnapshot, SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { RandomText } from '../../../../../bench/random-text.ts';

/** A coordinator with two members. */
export function toRandomAgent(): SessionAgent {
  return { ...toMember('lead'), multiagent: { type: 'coordinator', agents: [toMember('left'), toMember('right')] } };
}

/**
 * A task that is a script: it talks, calls, asks and delegates, each call with a token of its own. Those that are
 * delegated to have scripts in their tasks.
 */
export function toScript(random: RandomText, nextToken: () => string, depth = 0): string {
  const turns = Array.from({ length: 1 + random.below(4 - depth) }, () => toSteps(random, nextToken, depth));
  const script = JSON.stringify({ turns: [...turns, [{ say: random.prose(80), chunks: 8, every_ms: 1 }]] });
  return `<script>${script.replaceAll('<', String.raw`\u003c`)}</script>`;
}

function toSteps(random: RandomText, nextToken: () => string, depth: number): object[] {
  const steps: object[] = [];
  if (random.below(8) === 0) steps.push({ fail: { status: 529, retry_after_s: 0.01 } });
  // Rare, because it has no retry-after, and the first wait takes half a second.
  if (random.below(40) === 0) steps.push({ cut: { times: 1 } });
  if (random.below(2) === 0) steps.push({ think: random.prose(30), chunks: 3, every_ms: 1 });
  steps.push({ say: random.prose(120), chunks: 10, every_ms: 1 });
  const calls = 1 + random.below(3);
  for (let call = 0; call < calls; call++) steps.push(toCall(random, nextToken, depth));
  return steps;
}

function toCall(random: RandomText, nextToken: () => string, depth: number): object {
  const kind = random.below(depth < 2 ? 9 : 6);
  if (kind < 3) return { call: 'trace', input: { token: nextToken(), ms: random.pick([0, 0, 5, 30, 100]) } };
  if (kind < 5) return { call: 'careful_trace', input: { token: nextToken() } };
  if (kind === 5) return { call: 'outside', input: { token: nextToken() } };
  const message = () => toScript(random, nextToken, depth + 1);
  const agent = () => random.pick(['left', 'right']);
  if (kind === 6) return { call: 'send_to_agent', input: { agent: agent(), message: message() } };
  const tasks = Array.from({ length: 1 + random.below(2) }, () => ({ agent: agent(), message: message() }));
  return { call: 'delegate', input: { tasks } };
}

function toMember(name: string): AgentSnapshot {
  return {
    type: 'agent',
    id: `agent_${name}`,
    version: 1,
    name,
    description: name,
    system: null,
    model: { id: 'scripted/echo', effort: { type: 'high' }, speed: 'standard' },
    tools: [],
    mcp_servers: [],
    skills: [],
    execution_identity: { type: 'service_account' },
  };
}
