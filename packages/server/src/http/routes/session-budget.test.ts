import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { Engine, EngineEvent } from '../../engines/model/engine.ts';
import { withServer } from '../../../../../test/server/server.suite.ts';
import { outcomeOf } from './records.suite.ts';

const MODEL = 'claude-sonnet-5';
const message: Anthropic.Beta.Sessions.BetaManagedAgentsUserMessageEventParams = {
  type: 'user.message',
  content: [{ type: 'text', text: 'go' }],
};
const usd = (amount: string) => ({ type: 'limit' as const, max_list_cost: { amount, currency: 'USD' as const } });

describe('a budget, through the official SDK', () => {
  it('[H73] a session that has used it up pauses with budget_reached, refuses messages, and continues when it is raised', () =>
    withServer(
      async ({ client }) => {
        const tools = [{ type: 'agent_toolset_20260401' as const }];
        const { id: agent } = await client.beta.agents.create({ name: 'x', model: MODEL, tools });
        const { id: environment_id } = await client.beta.environments.create({ name: 'x' });
        // In cents; each model request costs one dollar.
        const session = await client.beta.sessions.create({ agent, environment_id, budget: usd('50') });
        expect(session.budget).toMatchObject(usd('50'));
        const { events } = client.beta.sessions;
        await events.send(session.id, { events: [message] });
        const first = await untilIdle(client, session.id);
        expect(first.slice(-3).map(({ type }) => type)).toEqual([
          'session.thread_status_idle',
          'session.usage',
          'session.status_idle',
        ]);
        expect(first.at(-3)).toMatchObject({ stop_reason: { type: 'budget_reached' } });
        expect(first.at(-2)).toMatchObject({ budget: usd('50'), usage: { list_cost: { currency: 'USD' } } });
        expect(first.at(-1)).toMatchObject({ stop_reason: { type: 'budget_reached' }, stop_details: null });
        expect(await outcomeOf(events.send(session.id, { events: [message] }))).toBe('400 invalid_request_error');

        const stream = await events.stream(session.id);
        const raised = await client.beta.sessions.update(session.id, { budget: usd('1000') });
        expect(raised.budget).toMatchObject(usd('1000'));
        const rest = await untilIdle(client, session.id, stream);
        expect(rest[0]).toMatchObject({ type: 'session.updated', budget: usd('1000') });
        expect(rest.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
        const { usage } = await client.beta.sessions.retrieve(session.id);
        expect(usage.list_cost).toMatchObject({ amount: '200', currency: 'USD' });
      },
      { engine: createDollarEngine() },
    ));
});

type Seen = Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent;

async function untilIdle(client: Anthropic, id: string, opened?: AsyncIterable<unknown>): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const event of (opened ?? (await client.beta.sessions.events.stream(id))) as AsyncIterable<Seen>) {
    seen.push(event);
    if (event.type === 'session.status_idle') break;
  }
  return seen;
}

/** Calls glob once and then ends; each request uses 500,000 tokens, and a million cost $2. */
function createDollarEngine(): Engine {
  return {
    request: async function* ({ messages }): AsyncGenerator<EngineEvent> {
      const isFirst = messages.length === 1;
      const call = { type: 'tool_use', id: 'toolu_1', name: 'glob', input: { pattern: '*' } } as const;
      yield {
        type: 'finished',
        content: isFirst ? [call] : [{ type: 'text', text: 'Done.' }],
        stop: { reason: isFirst ? 'tool_use' : 'end_turn', category: null, explanation: null },
        usage: {
          inputTokens: 500_000,
          outputTokens: 0,
          cacheReadTokens: 0,
          cacheWrite5mTokens: 0,
          cacheWrite1hTokens: 0,
        },
        model: MODEL,
      };
    },
    close: async () => {},
  };
}
