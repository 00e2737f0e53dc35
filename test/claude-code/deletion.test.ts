import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTreeRemover } from '../../packages/server/src/base/files/remove-tree.ts';
import { createClaudeCodeEngine } from '../../packages/server/src/engines/program/claude-code/claude-code-engine.ts';
import { agent, converse, script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { serveScriptedModel } from '../../packages/server/src/engines/model/scripted/index.ts';
import type { ClaudeCodeChoice } from '../../packages/server/src/composition/open-programs.ts';
import { createProgramNetwork } from '../../packages/server/src/composition/program-network.ts';
import { HostResolver } from '../../packages/server/src/tools/network/host-resolver.ts';
import { claudeCodeEnvironment, describeWithClaudeCode, temporaryHome } from '../support/claude-code.ts';
import { bash, delegate, toChoice, withClaudeServer } from './claude-server.ts';

await describeWithClaudeCode('transcripts of the real program', ({ path }) => {
  it('[J285] are deleted with their session, in the sandbox', async () => {
    await runAndDelete(path, await toChoice(path));
  }, 120_000);

  it('[J285] are deleted with their session, without the sandbox', async () => {
    await runAndDelete(path, { ...(await toChoice(path)), isUnsandboxed: true });
  }, 120_000);

  it('[J286] are deleted from the home of the operator, and no other file there is, also after a restart', async () => {
    const home = await temporaryHome();
    const model = await serveScriptedModel();
    onTestFinished(() => model.close());
    const login = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none' };
    const remover = createTreeRemover({ onProblem: () => {} });
    onTestFinished(() => remover.close());
    const open = () =>
      createClaudeCodeEngine({
        program: path,
        directory: join(home, 'data'),
        environment: claudeCodeEnvironment(home, login),
        passedVariables: ['IS_SANDBOX', ...Object.keys(login)],
        sandbox: 'none',
        usesOwnLogin: true,
        openNetwork: (networking) => createProgramNetwork({ networking, resolveHost: new HostResolver().forSession() }),
        upstream: null,
        remover,
      });
    const engine = open();
    const directory = join(home, 'work');
    await mkdir(directory);
    const { ask } = await converse({ engine, directory }, { members: [agent({ name: 'worker' })] });
    const child = script([bash('echo here')], [{ say: 'Helped.' }]);
    await ask(`Go. ${script([delegate('worker', 'help', child)], [{ say: 'Done.' }])}`);
    await engine.close();
    const projects = join(home, '.claude', 'projects');
    const transcripts = await listTranscripts(projects);
    expect(transcripts).toHaveLength(2);
    const project = dirname(transcripts.find((file) => !file.includes('subagents'))!);
    const own = '00000000-0000-4000-8000-000000000001';
    await mkdir(join(project, own, 'subagents'), { recursive: true });
    const others = [`${own}.jsonl`, join(own, 'subagents', 'agent-a1.jsonl')].map((name) => join(project, name));
    for (const file of others) await writeFile(file, '{}\n');

    const next = open();
    onTestFinished(() => next.close());
    expect(await next.listKept()).toEqual(['sesn_test']);
    await next.forget('sesn_test');
    expect(await listTranscripts(projects)).toEqual(others.toSorted());
    expect(await next.listKept()).toEqual([]);
  }, 120_000);
});

/** Runs a session with a sub-agent, deletes it, and expects no transcript of it to be left. */
async function runAndDelete(path: string, claudeCode: ClaudeCodeChoice): Promise<void> {
  await withClaudeServer(
    path,
    async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker' }] });
      const child = script([bash('echo here')], [{ say: 'Helped.' }]);
      await server.run(session, `Go. ${script([delegate('worker', 'help', child)], [{ say: 'Done.' }])}`);
      const homes = join(server.directory, 'program-homes');
      expect(await listTranscripts(homes)).toHaveLength(2);
      await server.client.beta.sessions.delete(session);
      await expect.poll(() => listTranscripts(homes), { timeout: 30_000 }).toEqual([]);
    },
    { claudeCode },
  );
}

async function listTranscripts(place: string): Promise<string[]> {
  const names = await readdir(place, { recursive: true }).catch(() => []);
  return names
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(place, name))
    .toSorted();
}
