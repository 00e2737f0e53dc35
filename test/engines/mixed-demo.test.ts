import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { buildProgram, startProgram } from '../../packages/cli/test-support/processes.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { describeWithPrograms } from '../support/programs.ts';

describeWithPrograms(['claude-code', 'codex', 'opencode'], 'the mixed demo', (paths) => {
  beforeAll(buildProgram);

  it('[MX122] `start --demo mixed` runs one session on Claude Code, Codex and opencode, offline and without a key', async () => {
    const data = await mkdtemp(join(tmpdir(), 'fleetloom-mixed-demo-'));
    const args = ['--claude', paths['claude-code'], '--codex', paths.codex, '--opencode', paths.opencode];
    const unsandboxed = noSandbox === undefined ? [] : ['--unsandboxed-programs'];
    const running = startProgram(
      ['start', '--json', '--port', '0', '--data', join(data, 'data'), '--demo', 'mixed', ...args, ...unsandboxed],
      { HOME: data },
    );
    onTestFinished(async () => {
      running.child.kill('SIGINT');
      await running.ended;
      await rm(data, { recursive: true, force: true, maxRetries: 5 });
    });
    await running.saw(/\n/);
    const { url, key } = JSON.parse(running.out.stdout) as { url: string; key: string };
    const client = new Anthropic({ baseURL: url, apiKey: key, authToken: null });
    const decided = new Set<string>();
    const look = async () => {
      const [session] = (await client.beta.sessions.list()).data;
      if (session === undefined) return undefined;
      const { data: events } = await client.beta.sessions.events.list(session.id, { limit: 1000 });
      const last = events.findLast(({ type }) => type.startsWith('session.status_'));
      const stop = last?.type === 'session.status_idle' ? last.stop_reason : undefined;
      for (const id of stop?.type === 'requires_action' ? stop.event_ids : []) {
        if (decided.has(id)) continue;
        decided.add(id);
        const event = { type: 'user.tool_confirmation' as const, tool_use_id: id, result: 'allow' as const };
        await client.beta.sessions.events.send(session.id, { events: [event] });
      }
      return stop?.type === 'end_turn' ? session : undefined;
    };
    const session = await vi.waitUntil(look, { timeout: 150_000, interval: 300 });
    expect(decided.size).toBe(1);
    const threads = [];
    for await (const thread of client.beta.sessions.threads.list(session.id)) threads.push(thread);
    expect(threads.map(({ agent }) => modelOf(agent))).toEqual([
      'scripted/echo',
      'claude-code/default',
      'codex/gpt-5.5',
      'opencode/scripted/default',
    ]);
    expect(threads.every(({ status }) => status === 'idle')).toBe(true);
    const response = await fetch(`${url}/v1/sessions/${session.id}/changes`, { headers: { 'x-api-key': key } });
    const { files } = (await response.json()) as { files: { path: string }[] };
    expect(files.map(({ path }) => path).toSorted()).toEqual(['docs/review.md', 'docs/todo.md']);
  }, 240_000);
});

function modelOf(agent: object): unknown {
  // The official client names it in two ways.
  const { model } = agent as { model?: string | { id: string } };
  return typeof model === 'object' ? model.id : model;
}
