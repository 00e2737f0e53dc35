import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { programLimits } from '../limits.ts';
import { createTreeRemover } from '../../../base/files/remove-tree.ts';
import { findProgram } from '../../../tools/find-program.ts';
import { openBubblewrap } from '../../../tools/sandbox/bubblewrap.ts';
import { noSandbox } from '../../../tools/sandbox/sandbox.suite.ts';
import { agent, converse, textsOf, toolset } from '../suite/conversation.suite.ts';
import { endedSuite, unbegunSuite } from '../suite/ended.suite.ts';
import { createOpencodeEngine, type OpencodeOptions } from './opencode-engine.ts';
import { writeOpencode } from './simulate-opencode.suite.ts';

const places = [
  ['the machine', 'none'],
  ...(noSandbox === undefined ? [['the sandbox', 'sandbox'] as const] : []),
] as const;

it.each(places)('[OC20] on %s a conversation works, and a later process continues it', async (_, place) => {
  const { engine, directory } = createEngine(toPlace(place));
  const first = await converse({ engine, directory }, { agent: agent({ system: 'Be kind.' }) });
  expect((await first.ask('say One')).outcome).toEqual({ type: 'done' });
  await first.program.close();
  const { conversation } = await first.next('opened');
  const second = await converse({ engine, directory }, { resume: conversation });
  await second.ask('say Two');
  await second.program.close();
  expect([textsOf(first.events), textsOf(second.events)]).toEqual([['One / Be kind.'], ['Two']]);
  expect(second.events[0]).toMatchObject({ type: 'opened', conversation, version: '1.18.33' });
  expect(second.events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
});

it('[OC20] a conversation that is lost ends the program with the reason', async () => {
  const { engine, directory } = createEngine();
  const { next } = await converse({ engine, directory }, { resume: 'ses_unknown' });
  expect(await next('exited')).toMatchObject({
    isWanted: false,
    message: expect.stringMatching(/No conversation found.*ses_unknown/),
  });
});

it('[OC21] opencode receives no variable of the server but those that it needs', async () => {
  const environment = { PATH: process.env['PATH'] ?? '', ANTHROPIC_API_KEY: 'secret', MY_TOKEN: 'secret', PASSED: '1' };
  const { engine, directory } = createEngine({ environment, passedVariables: ['PASSED'] });
  const { ask, events, program } = await converse({ engine, directory });
  await ask('environment');
  await program.close();
  const names = textsOf(events)[0]?.split(' ') ?? [];
  expect(names).toEqual(expect.arrayContaining(['PASSED', 'OPENCODE_CONFIG_CONTENT', 'XDG_DATA_HOME']));
  expect(names).not.toContain('MY_TOKEN');
});

it('[OC22] an interrupt stops the turn after the second report of its end, and a message that was sent before is answered then', async () => {
  const { engine, directory } = createEngine();
  const { ask, next, events, program } = await converse({ engine, directory });
  const ended = ask('wait');
  await next('request_started');
  program.interrupt();
  program.say([{ type: 'text', text: 'say After' }]);
  expect(await ended).toMatchObject({ outcome: { type: 'stopped' }, isMoreToCome: true });
  expect((await next('turn_ended', 1)).outcome).toEqual({ type: 'done' });
  await program.close();
  expect(textsOf(events)).toEqual(['After']);
});

it('[OC22] an interrupt before the turn has begun stops it when it begins', async () => {
  const { engine, directory } = createEngine();
  const { ask, program } = await converse({ engine, directory });
  await ask('say One');
  const ended = ask('wait');
  program.interrupt();
  expect(await ended).toMatchObject({ outcome: { type: 'stopped' } });
  expect((await ask('say Two')).outcome).toEqual({ type: 'done' });
  await program.close();
});

it('[OC13] a message that opencode has stored and not answered is sent again', async () => {
  const { engine, directory } = createEngine();
  const { ask, events, program } = await converse({ engine, directory });
  expect((await ask('lose Found')).outcome).toEqual({ type: 'done' });
  await program.close();
  expect(textsOf(events)).toEqual(['Found']);
});

it('[OC12] events of the time while the stream is broken are read from the server', async () => {
  const { engine, directory } = createEngine();
  const { ask, events, program } = await converse({ engine, directory });
  expect((await ask('break Missed')).outcome).toEqual({ type: 'done' });
  expect((await ask('say Next')).outcome).toEqual({ type: 'done' });
  await program.close();
  expect(textsOf(events)).toEqual(['Missed', 'Next']);
});

it('[OC14] a denial is sent with its message; in the mode deny a call that needs an approval is denied', async () => {
  const { engine, directory } = createEngine();
  const asking = { agent: agent({ tools: [toolset('always_ask')] }) };
  const first = await converse({ engine, directory }, asking);
  const ended = first.ask('ask');
  first.program.answer((await first.next('ask')).callId, { type: 'deny', message: 'Not now.' });
  await ended;
  const resultOf = (events: typeof first.events) => JSON.stringify(events.find(({ type }) => type === 'result'));
  expect(resultOf(first.events)).toContain('Not now.');
  expect(first.events.map(({ type }) => type)).toContain('answered');
  await first.program.close();
  const second = await converse({ engine, directory }, asking);
  second.program.setPermissionMode('deny');
  await second.ask('ask');
  await second.program.close();
  expect(second.events.some(({ type }) => type === 'ask')).toBe(false);
  expect(resultOf(second.events)).toContain('reject');
});

it('[OC23] closing ends the command that opencode leaves behind, and what is opened then is over', async () => {
  const { engine, directory } = createEngine();
  const { program, next, events } = await converse({ engine, directory });
  program.say([{ type: 'text', text: `run touch ${join(directory, 'begun')}; exec tail -f /dev/null` }]);
  await next('request_started');
  await vi.waitFor(() => expect(existsSync(join(directory, 'begun'))).toBe(true));
  await engine.close();
  expect(events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
  expect(findRunning('tail -f /dev/null', directory)).toEqual([]);
  const late = await converse({ engine, directory });
  expect(await late.next('exited')).toMatchObject({ isWanted: false, message: expect.stringMatching(/closed/) });
});

it('[OC23] the files that a session has kept are listed, and removed with the session', async () => {
  const { engine, directory, data } = createEngine();
  const { program, ask } = await converse({ engine, directory });
  await ask('say One');
  expect(await engine.listKept()).toEqual(['sesn_test']);
  await engine.forget('sesn_test');
  expect(program.vitals().isAlive).toBe(false);
  expect(await engine.listKept()).toEqual([]);
  expect(readdirSync(join(data, 'opencode-programs'))).toEqual([]);
});

it('[OC24] an MCP server that opencode cannot use is reported with the reason', async () => {
  const { engine, directory } = createEngine();
  const servers = [{ type: 'url' as const, name: 'broken', url: 'https://broken.example.com/mcp' }];
  const { program, next } = await converse({ engine, directory }, { agent: agent({ mcp_servers: servers }) });
  expect(await next('server_failed')).toEqual({
    type: 'server_failed',
    key: 'main',
    serverName: 'broken',
    isLogin: false,
    reason: 'no such server',
  });
  await program.close();
});

it('[OC25] opencode that is missing, too old or another program is a reason with advice', async () => {
  const messageOf = async (program: string) => {
    const { engine, directory } = createEngine({ program });
    return (await (await converse({ engine, directory })).next('exited')).message;
  };
  expect(await messageOf('/nowhere/opencode')).toMatch(/no file \/nowhere\/opencode.*install opencode/);
  expect(await messageOf(writeOpencode({ version: '1.2.3' }))).toMatch(
    /opencode 1\.2\.3, and 1\.18\.33 or newer is needed/,
  );
  expect(await messageOf(writeOpencode({ version: 'something else' }))).toMatch(/is not opencode/);
});

it('[OC25] opencode that does not listen within 60 s is ended, with the reason', async () => {
  const { schedule, advance } = createManualSchedule(createManualClock());
  const { engine, directory } = createEngine({ program: writeOpencode({ isMute: true }), schedule });
  const { next, program } = await converse({ engine, directory });
  advance(programLimits.opencodeStartMs - 1);
  expect(program.vitals().isAlive).toBe(true);
  advance(1);
  expect(await next('exited')).toMatchObject({
    isWanted: false,
    message: expect.stringMatching(/not ready within 60 s/),
  });
});

endedSuite(async () => {
  const { engine, directory } = createEngine();
  const { program } = await converse({ engine, directory });
  await program.close();
  return program;
});
unbegunSuite(async () => {
  const { engine, directory } = createEngine({ program: '/nowhere/opencode' });
  return await engine.open({
    sessionId: 'sesn_test',
    directory,
    agent: agent(),
    members: [],
    depthMax: 1,
    known: [],
    resume: null,
  });
}, /no file/);

function toPlace(place: 'none' | 'sandbox'): Pick<OpencodeOptions, 'sandbox'> {
  return { sandbox: place === 'none' ? 'none' : () => openBubblewrap({ findProgram }) };
}

function createEngine(changes: Partial<OpencodeOptions> = {}) {
  const data = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-opencode-engine-')));
  const directory = join(data, 'work');
  mkdirSync(directory);
  const remover = createTreeRemover({ onProblem: () => {} });
  const engine = createOpencodeEngine({
    directory: data,
    program: writeOpencode(),
    environment: { PATH: process.env['PATH'] ?? '' },
    sandbox: 'none',
    openNetwork: () => ({ findMcpServer: refuse, findHost: refuse }),
    upstream: { type: 'handler', handle: (_, response) => void response.end() },
    remover,
    ...changes,
  });
  onTestFinished(async () => {
    await engine.close();
    await remover.close();
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  });
  return { engine, directory, data };
}

/** Processes with this command line that work in this directory. */
function findRunning(command: string, directory: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const isOurs = readlinkSync(`/proc/${pid}/cwd`) === directory;
      return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === command;
    } catch {
      // Not a process, or one that has ended in the meantime.
      return false;
    }
  });
}

async function refuse(): Promise<never> {
  throw new Error('there is no network');
}
