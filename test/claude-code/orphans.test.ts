import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../server/server.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { buildProgram } from '../support/build-program.ts';
import { describeWithClaudeCode, temporaryHome } from '../support/claude-code.ts';
import { repositoryRoot } from '../support/root.ts';
import { bash, toolset } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { findProcesses } from './processes.ts';
import { startHost } from './start-host.ts';

const places = noSandbox === undefined ? ['sandboxed', 'unsandboxed'] : ['unsandboxed'];

const code = join(repositoryRoot, '.cache', `claude-code-host-${process.pid}`);

await describeWithClaudeCode('a server in a process of its own', ({ path }) => {
  beforeAll(() => buildProgram(code, { host: fileURLToPath(new URL('./host.ts', import.meta.url)) }), 120_000);
  afterAll(() => rm(code, { recursive: true, force: true }));

  it.each(places)(
    '[J90] processes and files of a killed server are gone after its next start, and its sessions are idle: %s',
    async (place) => {
      const home = await temporaryHome();
      const directory = await mkdtemp(join(tmpdir(), 'fleetloom-claude-host-'));
      onTestFinished(() => rm(directory, { recursive: true, force: true }));
      const first = await startHost({ code, path, directory, home, place });
      const session = await startForever(first.port, directory);
      expect(findProcesses(directory).length).toBeGreaterThan(1);
      first.child.kill('SIGKILL');
      await once(first.child, 'exit');
      // A sandbox ends with its server; a program without one runs until it is ended.
      if (place === 'sandboxed')
        await vi.waitFor(() => expect(findProcesses(directory)).toEqual([]), { timeout: 30_000 });
      else expect(findProcesses(directory).length).toBeGreaterThan(1);

      const second = await startHost({ code, path, directory, home, place });
      await vi.waitFor(() => expect(findProcesses(directory)).toEqual([]), { timeout: 30_000 });
      const next = connect(`http://127.0.0.1:${second.port}`);
      const isOver = async () => (await next.beta.sessions.retrieve(session)).status;
      // The lease of the one that was killed has to run out first.
      await vi.waitFor(async () => expect(await isOver()).toBe('idle'), { timeout: 60_000, interval: 500 });
      expect(await readdir(join(directory, 'programs'))).toEqual([]);
    },
    180_000,
  );

  it.each(places)(
    '[J91] a server that receives a signal to stop ends its programs: %s',
    async (place) => {
      const home = await temporaryHome();
      const directory = await mkdtemp(join(tmpdir(), 'fleetloom-claude-host-'));
      onTestFinished(() => rm(directory, { recursive: true, force: true }));
      const { child, port } = await startHost({ code, path, directory, home, place });
      await startForever(port, directory);
      child.kill('SIGTERM');
      const [exitCode] = (await once(child, 'exit')) as [number | null];
      expect(exitCode).toBe(0);
      expect(findProcesses(directory)).toEqual([]);
      expect(await readdir(join(directory, 'programs'))).toEqual([]);
    },
    180_000,
  );
});

/** A session in the middle of a tool that never ends. */
async function startForever(port: number, directory: string) {
  const client = connect(`http://127.0.0.1:${port}`);
  const environment = await client.beta.environments.create({ name: 'here', config: { type: 'cloud' } });
  const definition = { name: 'main', model: 'claude-code/default', tools: [toolset('always_allow')] };
  // Tests write the wire by hand, and the server checks it.
  const agent = await client.beta.agents.create(definition as never);
  const { id: session } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const text = `Go. ${script([bash('touch begun; tail -f /dev/null')], [{ say: 'Never.' }])}`;
  await client.beta.sessions.events.send(session, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  const isBegun = async () => (await readdir(join(directory, 'workspaces', session))).includes('begun');
  await vi.waitFor(async () => expect(await isBegun()).toBe(true), { timeout: 60_000 });
  return session;
}
