import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { connect } from '../server/server.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { buildProgram } from '../support/build-program.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { repositoryRoot } from '../support/root.ts';
import { bash, toolset } from './claude-server.ts';

const code = join(repositoryRoot, '.cache', `claude-code-sandbox-${process.pid}`);

/** In the environment of the server itself, where every process that could see it would find them. */
const secrets = {
  AWS_ACCESS_KEY_ID: 'canary-aws-id',
  AWS_SECRET_ACCESS_KEY: 'canary-aws-secret',
  AWS_SESSION_TOKEN: 'canary-aws-session',
  GITHUB_TOKEN: 'canary-github',
  PGPASSWORD: 'canary-pg',
  DATABASE_URL: 'postgres://user:canary-database@host/name',
  npm_config__authToken: 'canary-npm',
  ANTHROPIC_AUTH_TOKEN: 'canary-anthropic-token',
  FLEETLOOM_KEY: 'canary-fleetloom',
};

// Everything that an agent can try through the Bash tool of the real program, in a server whose operator has secrets.
await describeWithClaudeCode('an agent of the real program that attacks its server', ({ path }) => {
  beforeAll(() => buildProgram(code, { host: fileURLToPath(new URL('./host.ts', import.meta.url)) }), 120_000);
  afterAll(() => rm(code, { recursive: true, force: true }));

  it.skipIf(noSandbox !== undefined)(
    '[J206] finds no secret of the operator: not in its variables, not in those of any process, not in a file',
    async () => {
      const { client, directory } = await startHost(path);
      const session = await begin(client);
      const look = `env; cat /proc/*/environ /proc/*/cmdline 2> /dev/null | tr '\\0' '\\n'
      grep -rs '[c]anary-' ${directory} /root /home /etc /tmp /var /run /work 2> /dev/null | head -5; echo looked`;
      await runCommand(client, session, `(${look}) > found.txt 2>&1`);
      const found = await readFile(join(directory, 'workspaces', session, 'found.txt'), 'utf8');
      expect(found).toContain('looked');
      expect(found).toContain('ANTHROPIC_BASE_URL=http://127.0.0.1:');
      expect(found.split('\n').filter((line) => line.includes('canary-'))).toEqual([]);
    },
    120_000,
  );

  it.skipIf(noSandbox !== undefined)(
    '[J210, J211, J212] reaches no other session, no file, port or process of the server, and ends nothing but itself',
    async () => {
      const { client, child, directory, port } = await startHost(path);
      const neighbour = await serveNeighbour();
      const other = await begin(client);
      await runCommand(client, other, 'echo private > notes.txt');
      const session = await begin(client);
      const commands = [
        // Other sessions, keys, the database, and the sockets of others.
        `cat ${directory}/workspaces/${other}/notes.txt ${directory}/fleetloom.db ${directory}/keys/*`,
        `cat ${directory}/program-homes/${other}/.claude/projects/*/*.jsonl`,
        `ls ${directory}/program-sockets | grep -v "^$(ls ${directory}/program-sockets | head -1)$"`,
        // Ports of this machine, by every name that it has.
        ...[port, neighbour.port].map(
          (each) => `curl -sf -m 3 http://127.0.0.1:${each}/ http://localhost:${each}/ http://[::1]:${each}/`,
        ),
        `curl -sf -m 5 --noproxy '' -x "$HTTPS_PROXY" -p http://127.0.0.1:${neighbour.port}/`,
        // What the operator's credential would open.
        `curl -sf -X POST $ANTHROPIC_BASE_URL/v1/files -d x`,
        `curl -sf $ANTHROPIC_BASE_URL/v1/models`,
        `curl -sf --path-as-is -X POST $ANTHROPIC_BASE_URL/v1/messages/../files -d x`,
        // The machine.
        `kill -9 ${child.pid}`,
        `kill -9 ${process.pid}`,
        'echo x > /usr/x',
        `echo '|/bin/sh' > /proc/sys/kernel/core_pattern`,
        'mount -t tmpfs none /mnt',
        'unshare -Ur id',
        'cat /etc/shadow',
        'ls /root',
        `ls ${repositoryRoot}/package.json`,
      ];
      const attempts = commands.map(
        (command, at) => `if (${command}) > out-${at}.txt 2>&1; then echo ${at} >> worked.txt; fi`,
      );
      await runCommand(
        client,
        session,
        `touch worked.txt; ${attempts.join('; ')}; (echo x > ${directory}/x) 2> /dev/null`,
      );
      const workspace = join(directory, 'workspaces', session);
      const worked = (await readFile(join(workspace, 'worked.txt'), 'utf8')).trim();
      expect(
        worked
          .split('\n')
          .filter((at) => at !== '')
          .map((at) => commands[Number(at)]),
      ).toEqual([]);
      expect(neighbour.count()).toBe(0);
      expect(await readdir(directory)).not.toContain('x');
      expect((await client.beta.sessions.retrieve(other)).status).toBe('idle');
      expect(child.exitCode).toBeNull();
      // A program that ends its own process ends no other.
      await expect(runCommand(client, await begin(client), 'kill -9 -1')).rejects.toThrow('the program is gone');
      expect(await runCommand(client, await begin(client), 'echo still here')).toContain('still here');
    },
    120_000,
  );
});

async function startHost(path: string) {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-claude-sandbox-'));
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory, ...secrets };
  const child: ChildProcess = spawn(process.execPath, [join(code, 'host.mjs'), directory, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  const port = Number(said.toString());
  return { child, directory, port, client: connect(`http://127.0.0.1:${port}`) };
}

async function begin(client: Anthropic): Promise<string> {
  const environment = await client.beta.environments.create({ name: 'here', config: { type: 'cloud' } });
  const definition = { name: 'main', model: 'claude-code/default', tools: [toolset('always_allow')] };
  // Tests write the wire by hand, and the server checks it.
  const agent = await client.beta.agents.create(definition as never);
  return (await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id })).id;
}

/** Lets the real program run a command, and gives what its tool printed. */
async function runCommand(client: Anthropic, session: string, command: string): Promise<string> {
  const text = `Go. ${script([bash(command)], [{ say: 'It printed: {{last_result}}' }])}`;
  const stream = await client.beta.sessions.events.stream(session);
  await client.beta.sessions.events.send(session, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  let said = '';
  for await (const event of stream) {
    if (event.type === 'session.error') throw new Error(event.error.message);
    if (event.type === 'agent.message')
      said += event.content.map((block) => ('text' in block ? block.text : '')).join('');
    if (event.type === 'session.status_idle') return said;
  }
  throw new Error('the stream ended');
}

/** Something of this machine that counts who connects to it. */
async function serveNeighbour() {
  let count = 0;
  const server = createTcpServer((socket) => {
    count++;
    socket.on('error', () => undefined).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, count: () => count };
}
