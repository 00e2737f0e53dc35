import { programList } from '../../../packages/server/src/http/schemas/program.ts';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  findProgramEntry,
  isProgramModel,
  listPrograms,
  registerProgram,
} from '../../../packages/server/src/engines/program/registry.ts';
import { MAIN, type ProgramEngine } from '../../../packages/server/src/engines/program/program.ts';
import type { ProgramHost } from '../../../packages/server/src/engines/program/program-host.ts';
import { withServer } from '../server.suite.ts';
import {
  begins,
  createTestPrograms,
  ends,
  says,
  turnBegins,
} from '../../../packages/server/src/sessions/runtime/program/test-program.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

const MODEL = 'toy/large';
const WORKSPACE = 'wrkspc_default';

it('[N65] a registered engine runs the sessions of its models; steering and forks reach it', async () => {
  const { toy, hosts, copied } = registerToy();
  const choice = { workspaces: [WORKSPACE], program: '/opt/toy' };
  await withServer(
    async ({ client, url, key, directory }) => {
      const post = (path: string, body: object = {}) =>
        fetch(`${url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      expect(hosts).toMatchObject([{ choice, directory }]);
      const agent = await client.beta.agents.create({ name: 'a', model: MODEL });
      const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
      const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id });
      await send(id, 'Go.');
      const program = await toy.wait();
      expect(program.options).toMatchObject({ sessionId: id, agent: { model: { id: MODEL } } });
      await vi.waitFor(() => expect(program.heard).toEqual(['say Go.']));
      program.emit({ type: 'opened', key: MAIN, conversation: 'c1', version: '1.0.0' });
      const turnEnds = { type: 'turn_ended', outcome: { type: 'done' }, isMoreToCome: false, message: 'm1' } as const;
      program.emit(turnBegins, begins(), says('It is done.'), ends(), { key: MAIN, ...turnEnds });
      await vi.waitFor(async () => expect(await textsOf(id)).toEqual(['It is done.']), 20_000);
      await client.beta.sessions.update(id, { metadata: { 'toy.model': 'small' } });
      await vi.waitFor(() => expect(program.heard).toContain('model small'));
      const fork = await post(`/v1/sessions/${id}/fork`);
      expect(fork.status).toBe(200);
      expect(copied).toEqual(['c1']);

      async function send(sessionId: string, text: string): Promise<void> {
        const event = { type: 'user.message' as const, content: [{ type: 'text' as const, text }] };
        await client.beta.sessions.events.send(sessionId, { events: [event] });
      }
      async function textsOf(sessionId: string): Promise<string[]> {
        const { data } = await client.beta.sessions.events.list(sessionId);
        return data.flatMap((event) =>
          event.type === 'agent.message' ? event.content.map((block) => ('text' in block ? block.text : '')) : [],
        );
      }
    },
    { programs: { toy: choice } },
  );
});

it('[N65, V200] a registered engine is listed and described by its name, and has its own options and workspaces', async () => {
  registerToy();
  onTestFinished(
    registerProgram({ name: 'absent', optionPrefix: 'absent.', load: async () => () => createTestPrograms() }),
  );
  await withServer(
    async ({ client, url, key }) => {
      const describe = async (name: string) => {
        const response = await fetch(`${url}/v1/programs/${name}`, { headers: { authorization: `Bearer ${key}` } });
        return [response.status, await response.json()];
      };
      expect(await describe('toy')).toMatchObject([
        200,
        { id: 'toy', version: '1.0.0', permission_modes: ['careful'] },
      ]);
      expect((await describe('claude-code'))[0]).toBe(403);
      expect((await describe('toys'))[0]).toBe(404);
      const listed = await fetch(`${url}/v1/programs`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = programList.parse(await listed.json());
      expect(data.map(({ id }) => id)).toEqual(['claude-code', 'codex', 'opencode', 'toy', 'absent']);
      expect(data[0]).toMatchObject({
        version: null,
        is_sandboxed: null,
        problem: expect.stringMatching(/start the server with --programs default/),
      });
      expect(data[3]).toMatchObject({ version: '1.0.0', problem: null, models: ['toy/default'] });
      expect(data[4]).toMatchObject({ version: null, problem: expect.stringContaining('not found on the server') });
      const refused = { status: 403, message: expect.stringContaining('claude-code/default') };
      await expect(client.beta.agents.create({ name: 'b', model: 'claude-code/default' })).rejects.toMatchObject(
        refused,
      );
      const agent = await client.beta.agents.create({ name: 'a', model: MODEL });
      const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
      const create = (metadata: Record<string, string>) =>
        client.beta.sessions.create({ agent: agent.id, environment_id, metadata });
      await create({ 'toy.permission_mode': 'careful' });
      for (const [key, value, message] of [
        ['toy.permission_mode', 'bold', 'use one of careful'],
        ['toy.mode', 'careful', 'toy.model, toy.permission_mode, toy.depth, toy.settings'],
        ['claude_code.model', 'opus', 'the model of this session is not claude-code'],
      ] as const) {
        const invalid = { status: 400, message: expect.stringContaining(message) };
        await expect(create({ [key]: value })).rejects.toMatchObject(invalid);
      }
    },
    { programs: { toy: { workspaces: [WORKSPACE] }, absent: { workspaces: [WORKSPACE] } } },
  );
});

it('[N65] a name is registered once, and is unknown after its removal', () => {
  const remove = registerProgram({ name: 'toy', optionPrefix: 'toy.', load: async () => () => createTestPrograms() });
  expect(() => registerProgram(findProgramEntry('toy/x')!)).toThrow('A program engine named toy is registered already');
  expect(['toy/', 'toy/x', 'toy', 'toys/x', 'a/toy/x'].map(isProgramModel)).toEqual([true, true, false, false, false]);
  remove();
  expect(isProgramModel('toy/x')).toBe(false);
  expect(listPrograms().map(({ name }) => name)).toEqual(['claude-code', 'codex', 'opencode', 'acp']);
});

/** An engine named `toy` for the current test, whose programs do what the test says. */
function registerToy() {
  const hosts: ProgramHost[] = [];
  const copied: string[] = [];
  const toy = createTestPrograms();
  const engine: ProgramEngine = {
    ...toy,
    describe: async () => ({ ...(await toy.describe()), version: '1.0.0', permissionModes: ['careful'] }),
    copyConversation: async ({ conversation }) => {
      copied.push(conversation);
      return true;
    },
  };
  const load = async () => (host: ProgramHost) => {
    hosts.push(host);
    return engine;
  };
  onTestFinished(registerProgram({ name: 'toy', optionPrefix: 'toy.', load }));
  return { toy, hosts, copied };
}
