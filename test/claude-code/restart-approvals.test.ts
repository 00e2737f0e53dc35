import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toContinueMessage } from '@fleetloom/client';
import type { SessionEvent as WireEvent } from '@fleetloom/protocol/managed-agents';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { connect } from '../server/server.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { buildProgram } from '../support/build-program.ts';
import { describeWithClaudeCode, temporaryHome } from '../support/claude-code.ts';
import { repositoryRoot } from '../support/root.ts';
import { bash, delegate, toolset } from './claude-server.ts';
import { startHost } from './start-host.ts';

const code = join(repositoryRoot, '.cache', `claude-code-restart-${process.pid}`);
const place = noSandbox === undefined ? 'sandboxed' : 'unsandboxed';

const goesOn = [{ expect: { contains: ['not executed', 'echo'] } }, { say: 'I go on.' }];
const scenarios: readonly { readonly name: string; readonly asks: number; readonly text: string }[] = [
  { name: 'one', asks: 1, text: script([bash('echo one >> ran')], goesOn) },
  {
    name: 'three',
    asks: 3,
    text: script([bash('echo one'), bash('echo two'), bash('echo three')], goesOn),
  },
  {
    name: 'child',
    asks: 1,
    text: script([delegate('worker', 'look', script([bash('echo child >> ran')], [{ say: 'Never.' }]))], goesOn),
  },
];

await describeWithClaudeCode('a server that ends while approvals of the real program are open', ({ path }) => {
  beforeAll(() => buildProgram(code, { host: fileURLToPath(new URL('./host.ts', import.meta.url)) }), 120_000);
  afterAll(() => rm(code, { recursive: true, force: true }));

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    '[J244] after %s the next start withdraws one, three and a child’s approvals, refuses late answers, and one message continues the turn',
    async (signal) => {
      const home = await temporaryHome();
      const directory = await mkdtemp(join(tmpdir(), 'fleetloom-claude-restart-'));
      onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
      const first = await startHost({ code, path, directory, home, place });
      const client = connect(`http://127.0.0.1:${first.port}`);
      const sessions: { readonly id: string; readonly asks: readonly string[] }[] = [];
      for (const { text, asks } of scenarios) sessions.push(await begin(client, text, asks));
      first.child.kill(signal);
      await once(first.child, 'exit');

      const second = await startHost({ code, path, directory, home, place });
      const next = connect(`http://127.0.0.1:${second.port}`);
      for (const { id, asks } of sessions) {
        await vi.waitFor(async () => expect(await lastStop(next, id)).toEqual({ type: 'retries_exhausted' }), {
          timeout: 60_000,
          interval: 200,
        });
        for (const ask of asks) {
          const late = { type: 'user.tool_confirmation', tool_use_id: ask, result: 'allow' };
          const refusal = await next.beta.sessions.events.send(id, { events: [late as never] }).catch(String);
          expect(refusal).toContain('was withdrawn because the server restarted');
        }
        const text = toContinueMessage(await eventsOf(next, id));
        await next.beta.sessions.events.send(id, {
          events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
        });
        await vi.waitFor(async () => expect(await lastStop(next, id)).toEqual({ type: 'end_turn' }), {
          timeout: 60_000,
          interval: 200,
        });
        const said = (await eventsOf(next, id)).findLast((event) => event.type === 'agent.message');
        expect(said?.type === 'agent.message' ? said.content : []).toMatchObject([{ text: 'I go on.' }]);
        expect(await readdir(join(directory, 'workspaces', id))).not.toContain('ran');
      }
      // Its programs write to the directory until they have ended.
      second.child.kill('SIGTERM');
      await once(second.child, 'exit');
    },
    300_000,
  );
});

type Client = ReturnType<typeof connect>;

/** A session that waits for so many answers. */
async function begin(client: Client, text: string, count: number) {
  const environment = await client.beta.environments.create({ name: 'here', config: { type: 'cloud' } });
  const ask = { model: 'claude-code/default', tools: [toolset('always_ask')] };
  // Tests write the wire by hand, and the server checks it.
  const worker = await client.beta.agents.create({ ...ask, name: 'worker' } as never);
  const multiagent = { type: 'coordinator', agents: [worker.id] };
  const agent = await client.beta.agents.create({ ...ask, name: 'main', multiagent } as never);
  const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  await client.beta.sessions.events.send(id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: `Go. ${text}` }] }],
  });
  let asks: readonly string[] = [];
  await vi.waitFor(
    async () => {
      const stop = await lastStop(client, id);
      asks = stop?.type === 'requires_action' ? stop.event_ids : [];
      expect(asks).toHaveLength(count);
    },
    { timeout: 60_000, interval: 200 },
  );
  return { id, asks };
}

async function eventsOf(client: Client, id: string): Promise<WireEvent[]> {
  const events: WireEvent[] = [];
  // The official client names the same wire differently.
  for await (const event of client.beta.sessions.events.list(id)) events.push(event as unknown as WireEvent);
  return events;
}

async function lastStop(client: Client, id: string) {
  const last = (await eventsOf(client, id)).findLast(({ type }) => type.startsWith('session.status_'));
  return last?.type === 'session.status_idle' ? last.stop_reason : undefined;
}
