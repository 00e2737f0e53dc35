import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { type HostileServer, startHostileServer } from '../support/hostile-server.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';
import { attack } from './attack.ts';
import { forEachAtOnce, runSession } from './run-session.ts';

// Servers that the server connects to, each of which answers as badly as it can.

let hostile: HostileServer;
beforeAll(async () => {
  buildProgram();
  hostile = await startHostileServer();
});
afterAll(() => hostile.close());

describe('a server whose agents use hostile servers', () => {
  it(
    '[X13] every session with a hostile MCP server gets a result or a typed error, and ends',
    () =>
      attack({ args: ['--allow-private-host', '127.0.0.1'] }, async ({ attacker }) => {
        const problems: string[] = [];
        await forEachAtOnce(sample(hostile.names.mcp, 24), 6, async (name) => {
          const tools = { default_config: { permission_policy: { type: 'always_allow' as const } } };
          const { results, errors, isInterrupted, events } = await runSession(attacker, {
            agent: {
              mcp_servers: [{ type: 'url', name: 'x', url: hostile.url('mcp', name) }],
              tools: [{ type: 'mcp_toolset', mcp_server_name: 'x', ...tools }],
            },
            turns: [[{ call: 'mcp__x__echo', input: {} }], [{ call: 'mcp__x__echo', input: {} }], [{ say: 'done' }]],
            interruptMs: isLong ? 40_000 : 4_000,
          });
          const isAnswered = results.length === 2 || isInterrupted;
          const isTyped = errors.every((type) => type === 'mcp_connection_failed_error');
          if (!isAnswered || !isTyped) problems.push(`${name}: ${errors.join()} ${JSON.stringify(events.at(-2))}`);
        });
        expect(problems).toEqual([]);
        await expect.poll(() => hostile.connections()).toBe(0);
      }),
    long(120_000),
  );

  it(
    '[X14] every session with a hostile model endpoint ends with an answer or a typed error, or when it is interrupted',
    () =>
      attack(
        { env: { ANTHROPIC_BASE_URL: hostile.url('model', 'named'), ANTHROPIC_API_KEY: 'sk-test' } },
        async (victim) => {
          const problems: string[] = [];
          await forEachAtOnce(sample(hostile.names.model, 16), 4, async (name) => {
            const { errors, isInterrupted, events } = await runSession(victim.attacker, {
              agent: { model: 'claude-sonnet-4-5' },
              message: `behave as ${name}`,
              interruptMs: isLong ? 40_000 : 4_000,
            });
            const isAnswered = events.some(({ type }) => type === 'agent.message' || type === 'agent.tool_use');
            // The answer of `odd-usage` is valid and empty.
            const isTyped = errors.every((type) => /^model_(request_failed|overloaded|rate_limited)_error$/.test(type));
            if (!isTyped || !(isAnswered || isInterrupted || errors.length > 0 || name === 'odd-usage')) {
              problems.push(`${name}: ${errors.join()} ${JSON.stringify(events.slice(-2))}`);
            }
          });
          expect(problems).toEqual([]);
          await expect.poll(() => hostile.connections()).toBeLessThanOrEqual(1);
        },
      ),
    long(120_000),
  );

  it(
    '[X15] hostile receivers of webhooks delay no session and keep no connection',
    async () => {
      const bad = hostile.names.hook.filter((name) => name !== 'fine');
      const args = bad.flatMap((name) => ['--webhook', hostile.url('hook', name)]);
      // Each receiver gets the events of four sessions at the same time, repeated until it accepts them.
      await attack({ args, descriptorsMore: 4 * bad.length }, async ({ attacker }) => {
        const sessions = Array.from({ length: isLong ? 500 : 30 }, (_, index) => index);
        await forEachAtOnce(sessions, 6, async () => {
          const { events } = await runSession(attacker, {
            turns: [[{ say: 'one two three', chunks: 3, every_ms: 5 }]],
          });
          expect(events.some(({ type }) => type === 'agent.message')).toBe(true);
        });
      });
      await expect.poll(() => hostile.connections()).toBe(0);
    },
    long(120_000),
  );
});

/** All of them in the long form, some otherwise. */
function sample(names: readonly string[], count: number): readonly string[] {
  const random = randomText();
  const rest = [...names];
  const picked = Array.from(
    { length: Math.min(count, rest.length) },
    () => rest.splice(random.below(rest.length), 1)[0]!,
  );
  return isLong ? names : picked;
}

function long(ms: number): number {
  return isLong ? timeout : ms;
}
