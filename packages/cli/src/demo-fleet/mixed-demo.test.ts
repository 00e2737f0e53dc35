import type { Session, SessionEvent, SessionThread } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { startTestServer } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { createServerApi } from '../connection/server-api.ts';
import { startDemo } from './start-demo.ts';

it('[MX120] without the programs, scripted agents stand in: three members work at once, one asks, and all report', async () => {
  const missing = { program: 'fleetloom-no-such-program', workspaces: ['wrkspc_default'] };
  const server = await startTestServer({ claudeCode: missing, programs: { codex: missing, opencode: missing } });
  try {
    const api = createServerApi({ url: server.url, key: server.key });
    // A second one uses the agents of the first.
    await startDemo(api, { agents: 'mixed' });
    const id = await startDemo(api, { agents: 'mixed' });
    const decided = new Set<string>();
    const isOver = async () => {
      const { data } = await server.get<{ data: SessionEvent[] }>(`/v1/sessions/${id}/events?limit=1000`);
      const last = data.findLast(({ type }) => type.startsWith('session.status_'));
      const stop = last?.type === 'session.status_idle' ? last.stop_reason : undefined;
      for (const use of stop?.type === 'requires_action' ? stop.event_ids : []) {
        if (decided.has(use)) continue;
        decided.add(use);
        const event = { type: 'user.tool_confirmation', tool_use_id: use, result: 'allow' };
        await server.post(`/v1/sessions/${id}/events`, { events: [event] });
      }
      return stop?.type === 'end_turn';
    };
    await expect.poll(isOver, { timeout: 60_000, interval: 100 }).toBe(true);
    expect(decided.size).toBe(1);
    const { data: threads } = await server.get<{ data: SessionThread[] }>(`/v1/sessions/${id}/threads`);
    expect(threads.map(({ agent }) => (agent !== null && 'name' in agent ? agent.name : ''))).toEqual([
      'demo-mixed-lead',
      'demo-claude-code',
      'demo-codex',
      'demo-opencode',
    ]);
    const session = await server.get<Session>(`/v1/sessions/${id}`);
    expect(session.title).toContain('Claude Code, Codex and opencode');
    const { data: agents } = await server.get<{ data: { name: string; description: string }[] }>('/v1/agents');
    const described = agents.filter(({ name }) => name.startsWith('demo-')).map(({ description }) => description);
    expect(described.filter((text) => text.includes('not installed: scripted'))).toHaveLength(3);
    expect(agents.filter(({ name }) => name.startsWith('demo-'))).toHaveLength(4);
  } finally {
    await server.close();
  }
}, 90_000);

it('[MX121] with a key or a login, which would cost money, the mixed demo does not start', async () => {
  for (const [args, env, fix] of [
    [[], { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'without ANTHROPIC_API_KEY and OPENAI_API_KEY'],
    [['--codex-login'], {}, 'Leave out --model and the logins'],
  ] as const) {
    const { code, stderr } = await call(['start', '--demo', 'mixed', '--data', '/nonexistent/data', ...args], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining(fix)]);
  }
  const other = await call(['start', '--demo', 'many'], { env: {} });
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('or mixed')]);
});
