import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeShellProgram } from '../../../packages/server/src/engines/program/claude-code/process/shell-program.suite.ts';
import { createScriptedModel } from '../../../packages/server/src/engines/model/scripted/index.ts';
import { openKeys } from '../../../packages/server/src/composition/credentials/open-keys.ts';
import { type ClaudeCodeChoice, openPrograms } from '../../../packages/server/src/composition/open-programs.ts';
import { startServer } from '../../../packages/server/src/server.ts';
import { begin, choose, exported, MODEL, run, WORKSPACE } from './programs.suite.ts';
import { connect, withServer } from '../server.suite.ts';
import { createMemoryStore } from '../../../packages/server/src/store/memory/memory-store.ts';
import { createTreeRemover } from '../../../packages/server/src/base/files/remove-tree.ts';

vi.setConfig({ testTimeout: 60_000 });

describe('workspaces that may run programs', () => {
  it('[J200] an agent with such a model is refused elsewhere, with the workspace and what the operator can do', async () => {
    await withServer(
      async ({ client, directory, url }) => {
        const refusal = { status: 403, message: expect.stringMatching(/workspace default.*--programs default/) };
        await expect(client.beta.agents.create({ name: 'a', model: MODEL })).rejects.toMatchObject(refusal);
        const plain = await client.beta.agents.create({ name: 'b', model: 'scripted/echo' });
        await expect(client.beta.agents.update(plain.id, { model: MODEL })).rejects.toMatchObject(refusal);
        const { keys, close } = await openKeys({ dataDirectory: directory });
        const { secret } = await keys.create({ kind: 'api', name: 'team', workspaceId: 'wrkspc_team' });
        await close();
        const team = connect(url, secret);
        await vi.waitFor(() => team.beta.agents.create({ name: 'a', model: MODEL }), 20_000);
      },
      { claudeCode: { workspaces: ['wrkspc_team'], program: writeShellProgram() } },
    );
  });

  it('[J200] a session with such a model is refused elsewhere, by an override and by /v1/orchestrate too', async () => {
    await withServer(async ({ client, url, key }) => {
      const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
      const environment = await client.beta.environments.create({ name: 'here' });
      const override = { type: 'agent_with_overrides', id: agent.id, model: MODEL };
      const create = client.beta.sessions.create({ agent: override as never, environment_id: environment.id });
      await expect(create).rejects.toMatchObject({
        status: 403,
        message: expect.stringContaining('--programs default'),
      });
      const response = await fetch(`${url}/v1/orchestrate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ message: 'Go.', agent_def: { name: 'x', model: MODEL } }),
      });
      const body = (await response.json()) as object;
      expect(response.status).toBe(403);
      expect(body).toMatchObject({ error: { details: { error_code: 'programs_not_allowed' } } });
      expect((await client.beta.sessions.list()).data).toEqual([]);
    });
  });

  it('[H128] a fork with such a model is refused elsewhere', async () => {
    await withServer(async ({ client, url, key }) => {
      const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
      const environment = await client.beta.environments.create({ name: 'here' });
      const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
      const fork = async (model: string) => {
        const response = await fetch(`${url}/v1/sessions/${id}/fork`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
          body: JSON.stringify({ agent: { type: 'agent_with_overrides', id: agent.id, model } }),
        });
        return { status: response.status, body: (await response.json()) as object };
      };
      const refused = await fork(MODEL);
      expect(refused.status).toBe(403);
      expect(refused.body).toMatchObject({ error: { details: { error_code: 'programs_not_allowed' } } });
      expect((await fork('scripted/demo')).status).toBe(200);
      expect((await client.beta.sessions.list()).data).toHaveLength(2);
    });
  });

  it('[J201] a workspace that may no longer fails its next turn with the reason, and nothing else changes', async () => {
    const choice = choose();
    const { program } = choice;
    await withServer(
      async (test) => {
        const id = await begin(test);
        expect(await run(test, id, 'echo first')).toBe('first\n');
        await test.server.close();
        const server = await startServer({ dataDirectory: test.directory, claudeCode: { program } });
        try {
          const client = connect(server.url, test.key);
          const again = { client, url: server.url, key: test.key };
          await expect(run(again, id, 'echo second')).rejects.toThrow(/--programs/);
          const errors = (await exported(again, id)).filter(({ type }) => type === 'session.error');
          expect(errors).toMatchObject([{ payload: { error: { reason: 'programs_not_allowed' } } }]);
          expect((await client.beta.sessions.retrieve(id)).status).toBe('idle');
          // What it is otherwise can still be changed.
          const [agent] = (await client.beta.agents.list()).data;
          await client.beta.agents.update(agent!.id, { version: agent!.version, description: 'An old one' });
        } finally {
          await server.close();
        }
      },
      { claudeCode: choice },
    );
  });
});

describe('what is reported about a program', () => {
  it('[A57] its version, where it runs, the values of its options and its capabilities, where the workspace may use it', async () => {
    const read = async ({ url, key }: { url: string; key: string }, id: string) => {
      const response = await fetch(`${url}/v1/programs/${id}`, { headers: { authorization: `Bearer ${key}` } });
      return [response.status, await response.json()] as const;
    };
    const choice = choose();
    await withServer(
      async (test) => {
        const [status, program] = await read(test, 'claude-code');
        expect(status).toBe(200);
        expect(program).toMatchObject({
          type: 'program',
          id: 'claude-code',
          version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
          is_sandboxed: choice.isUnsandboxed !== true,
          permission_modes: expect.arrayContaining(['default', 'plan']),
          settings: expect.arrayContaining(['none', 'project']),
        });
        expect(program).toMatchObject({
          capabilities: { sub_agent_text: 'deltas', roster: true, denial_reason: 'result', fork: true },
        });
        expect((await read(test, 'other'))[0]).toBe(404);
      },
      { claudeCode: choice },
    );
    await withServer(async (test) => expect((await read(test, 'claude-code'))[0]).toBe(403));
  });
});

describe('the endpoint of a program with its own login', () => {
  it('[J316] a base URL that is not an http or https URL keeps the server from starting', async () => {
    const open = (choice: ClaudeCodeChoice) =>
      openPrograms({
        options: { dataDirectory: '/nowhere', claudeCode: { usesOwnLogin: true, ...choice } },
        store: createMemoryStore(),
        scripted: createScriptedModel(),
        remover: createTreeRemover({ onProblem: () => {} }),
        onProblem: () => {},
      });
    const refused = {
      code: 'invalid_base_url',
      message: expect.stringMatching(/ANTHROPIC_BASE_URL or --model-base-url/),
    };
    for (const value of ['localhost:4000', 'nothing', 'ftp://example.com']) {
      await expect(open({ environment: { ANTHROPIC_BASE_URL: value } })).rejects.toThrow(
        expect.objectContaining(refused),
      );
      await expect(open({ loginBaseURL: value, environment: {} })).rejects.toThrow(expect.objectContaining(refused));
    }
    await (await open({ environment: { ANTHROPIC_BASE_URL: '' } })).all.close();
  });
});

describe('a machine without a sandbox', () => {
  it('[J202] a session on a program is refused with the reason and what to install; with the flag it is not', async () => {
    const opened = await openWithout({});
    await expect(opened.checkSession(WORKSPACE, MODEL)).rejects.toMatchObject({
      code: 'program_unavailable',
      message: expect.stringMatching(/bwrap is not installed.*install bubblewrap.*--unsandboxed-programs/),
    });
    // The agent may be made: it is for another machine, or another day.
    expect(() => opened.checkModel(WORKSPACE, MODEL)).not.toThrow();
    await opened.checkSession(WORKSPACE, 'scripted/echo');
    await (await openWithout({ isUnsandboxed: true })).checkSession(WORKSPACE, MODEL);
  });

  it('[V144] an option on a session that no program runs, and a misspelled one, are refused', async () => {
    const opened = await openWithout({ isUnsandboxed: true });
    const invalid = { code: 'program_option_invalid', message: expect.stringContaining('claude_code.permission_mode') };
    const misspelled = { 'claude_code.permision_mode': 'plan' };
    await expect(opened.checkOptions(['scripted/echo'], misspelled)).rejects.toMatchObject(invalid);
    await expect(opened.checkOptions([MODEL], misspelled)).rejects.toMatchObject(invalid);
    await opened.checkOptions(['scripted/echo'], { 'claude_code.model': null, other: 'x' });
  });

  it('[R402] a session has the options of the programs in its roster', async () => {
    const opened = await openWithout({ isUnsandboxed: true });
    await opened.checkOptions(['scripted/echo', MODEL], { 'claude_code.permission_mode': 'plan' });
    const invalid = { code: 'program_option_invalid' };
    const check = (options: Record<string, string>) => opened.checkOptions(['scripted/echo', MODEL], options);
    await expect(check({ 'claude_code.permission_mode': 'never' })).rejects.toMatchObject(invalid);
    await expect(check({ 'codex.settings': 'project' })).rejects.toMatchObject(invalid);
  });

  async function openWithout(choice: ClaudeCodeChoice) {
    const opened = await openPrograms({
      options: { dataDirectory: '/nowhere', claudeCode: { workspaces: [WORKSPACE], ...choice } },
      store: createMemoryStore(),
      scripted: createScriptedModel(),
      remover: createTreeRemover({ onProblem: () => {} }),
      openSandbox: async () => ({ type: 'unavailable', reason: 'bwrap is not installed' }),
      onProblem: () => {},
    });
    onTestFinished(() => opened.all.close());
    return opened;
  }
});
