import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { findProgram } from '../../../tools/find-program.ts';
import { openBubblewrap } from '../../../tools/sandbox/bubblewrap.ts';
import { noSandbox } from '../../../tools/sandbox/sandbox.suite.ts';
import { type Conversation, converse, textsOf } from '../suite/conversation.suite.ts';
import type { ProgramOptions } from '../program.ts';
import { type ClaudeCodeOptions, createClaudeCodeEngine } from './claude-code-engine.ts';
import { writeShellProgram } from './process/shell-program.suite.ts';
import { createTreeRemover } from '../../../base/files/remove-tree.ts';

const isLeftOut = noSandbox !== undefined;

it.skipIf(isLeftOut)('[J214] closing sends SIGTERM before SIGKILL, through the sandbox too', async () => {
  const { schedule, advance } = createManualSchedule(createManualClock());
  const { conversation, directory } = await openShell({ schedule });
  conversation.program.say([{ type: 'text', text: 'touch begun; exec tail -f /dev/null' }]);
  await vi.waitFor(() => expect(existsSync(join(directory, 'work', 'begun'))).toBe(true), 20_000);
  const closing = conversation.program.close();
  advance(0);
  await closing;
  const end = { type: 'exited', key: 'main', isWanted: true, message: 'it was ended by SIGTERM' };
  expect(await conversation.next('exited')).toEqual(end);
});

it.skipIf(isLeftOut)(
  '[J217] the login of the operator is one file, which it may renew; nothing else of the operator is there',
  async () => {
    const operator = mkdtempSync(join(tmpdir(), 'fleetloom-operator-'));
    onTestFinished(() => rmSync(operator, { recursive: true, force: true }));
    const config = join(operator, '.claude');
    mkdirSync(config);
    writeFileSync(join(config, '.credentials.json'), 'login');
    writeFileSync(join(config, 'settings.json'), 'hooks');
    const environment = { PATH: process.env['PATH'] ?? '', HOME: operator, CLAUDE_CODE_OAUTH_TOKEN: 'token' };
    const { conversation } = await openShell({ environment, usesOwnLogin: true });
    await conversation.ask('cat ~/.claude/.credentials.json; echo " $CLAUDE_CODE_OAUTH_TOKEN"; ls -A ~/.claude');
    await conversation.ask(`ls ${config}; echo renewed > ~/.claude/.credentials.json`);
    const [first, second] = textsOf(conversation.events);
    expect(first).toBe('login token\n.credentials.json\n');
    expect(second).toMatch(/cannot access/);
    expect(readFileSync(join(config, '.credentials.json'), 'utf8')).toBe('renewed\n');
    expect(readdirSync(config).sort()).toEqual(['.credentials.json', 'settings.json']);
  },
);

it.skipIf(isLeftOut)('[J217] without a login to use a session says where one was looked for', async () => {
  const environment = { PATH: process.env['PATH'] ?? '', HOME: '/nowhere' };
  const { conversation } = await openShell({ environment, usesOwnLogin: true });
  const { message, refusal } = await conversation.next('exited');
  expect(message).toMatch(/no login of Claude Code at \/nowhere\/\.claude.*setup-token/);
  expect(refusal).toBe('program_unavailable');
});

it.skipIf(isLeftOut)('[J193] works in a data directory whose path is too long for a socket', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-long-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { conversation } = await openShell({ directory: join(folder, 'x'.repeat(120)) });
  await conversation.ask('curl -s -o /dev/null -w "%{http_code}" $ANTHROPIC_BASE_URL/v1/models');
  expect(textsOf(conversation.events)).toEqual(['404']);
});

it.skipIf(isLeftOut)(
  '[J30] without a sandbox an environment that allows some hosts only starts no program',
  async () => {
    const networking = {
      type: 'limited',
      allowed_hosts: [],
      allow_mcp_servers: false,
      allow_package_managers: false,
    } as const;
    const { conversation } = await openShell({ sandbox: 'none' }, { networking });
    const { message, refusal } = await conversation.next('exited');
    expect([message, refusal]).toEqual([
      expect.stringMatching(/without a sandbox.*this environment/),
      'program_unavailable',
    ]);
    const held = await openShell({}, { networking });
    await held.conversation.ask('echo here');
    expect(textsOf(held.conversation.events)).toEqual(['here\n']);
  },
);

it.skipIf(isLeftOut)(
  '[J122] in the sandbox a server that needs a proxy to the endpoint refuses programs and says what to do',
  async () => {
    const upstream = {
      type: 'endpoint',
      baseURL: 'https://api.anthropic.com',
      credential: { apiKey: 'none' },
    } as const;
    const environment = { PATH: process.env['PATH'] ?? '', HTTPS_PROXY: 'http://proxy:3128' };
    const { conversation } = await openShell({ environment, upstream });
    expect((await conversation.next('exited')).message).toMatch(/HTTPS_PROXY is set.*NO_PROXY.*--unsandboxed-programs/);
  },
);

async function openShell(changes: Partial<ClaudeCodeOptions>, asked: Partial<ProgramOptions> = {}): Promise<Opened> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-sandboxed-')));
  const work = join(directory, 'work');
  mkdirSync(work);
  const engine = createClaudeCodeEngine({
    directory,
    program: writeShellProgram(),
    environment: { PATH: process.env['PATH'] ?? '' },
    sandbox: () => openBubblewrap({ findProgram }),
    openNetwork: () => ({ findMcpServer: refuse, findHost: refuse }),
    upstream: { type: 'handler', handle: (_, response) => void response.end() },
    remover: createTreeRemover({ onProblem: () => {} }),
    ...changes,
  });
  onTestFinished(async () => {
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { conversation: await converse({ engine, directory: work }, asked), directory };
}

interface Opened {
  readonly conversation: Conversation;
  readonly directory: string;
}

async function refuse(): Promise<never> {
  throw new Error('there is no network');
}
