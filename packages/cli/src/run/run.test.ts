import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FleetEvent, isFleetEvent } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, FakeIo } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { delegate, script, startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { begin, call, toLiveIo } from '../../test-support/live-io.ts';
import { buildProgram, startProgram } from '../../test-support/processes.ts';
import { openServer } from './open-server.ts';

let server: TestServer;
const root = mkdtempSync(join(tmpdir(), 'fleetloom-run-test-'));
const agents = join(root, 'agents');
beforeAll(async () => {
  server = await startTestServer();
  mkdirSync(agents);
  writeFileSync(
    join(agents, 'lead.md'),
    '---\nname: lead\ndescription: leads\ncoordinator: true\nmodel: scripted/echo\n---\nLead.',
  );
  writeFileSync(join(agents, 'worker.yaml'), 'name: worker\nmodel: scripted/echo\n');
  writeFileSync(join(agents, 'asker.md'), '---\nname: asker\ntools: Bash(ls *)\nmodel: scripted/echo\n---\nAsk.');
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

/** What is in the temporary directory of ours. */
const leftOvers = () => readdirSync(tmpdir()).filter((name) => /^fleetloom-run-(?!test)/.test(name));
const parse = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FleetEvent);
const FLEET = delegate(
  'worker',
  [script([{ say: 'one', every_ms: 5 }]), script([{ say: 'two' }])],
  'Both: {{results}}',
);
const SLOW = script([{ say: 'word '.repeat(400), every_ms: 50 }]);
const ASKING_ALONE = script([{ call: 'bash', input: { command: 'echo asked' } }], [{ say: 'got {{last_result}}' }]);
const ASKING = delegate('asker', [ASKING_ALONE]);

describe('fleetloom run', () => {
  it('[Y4] the synthesis goes to standard output and nothing else does; a good run returns 0', async () => {
    const { code, stdout, stderr } = await call(['run', FLEET, '--agents', agents]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Both: \[1\/2\] worker .*\none\n\[2\/2\] worker .*\ntwo\n$/);
    expect(stderr).toMatch(/✓ done {8}lead/);
    expect(stderr.match(/✓ done {10}worker/g)).toHaveLength(2);
  });

  it('[Y184] a run without a model is refused, and says how to get one; agents with models of their own need none', async () => {
    const refused = await call(['run', 'Say hello']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('There is no model for this run: ANTHROPIC_API_KEY is not set');
    expect(refused.stderr).toContain('--model claude-code/default');
    expect(refused.stderr).toContain('--model scripted/echo');
    const mixed = join(root, 'mixed');
    mkdirSync(mixed);
    writeFileSync(join(mixed, 'one.yaml'), 'name: one\n');
    expect((await call(['run', 'Say hello', '--agents', mixed])).code).toBe(2);
    writeFileSync(join(mixed, 'one.yaml'), 'name: one\nmodel: scripted/echo\n');
    expect(await call(['run', 'Say hello', '--agents', mixed])).toMatchObject({ code: 0, stdout: 'Say hello\n' });
  });

  it('[W96] --allow-private-host lets agents reach a private host, which they do not otherwise', async () => {
    const readers = join(root, 'readers');
    mkdirSync(readers);
    writeFileSync(join(readers, 'reader.md'), '---\nname: reader\ntools: WebFetch\nmodel: scripted/echo\n---\nRead.');
    const { host } = new URL(server.url);
    const task = script(
      [{ call: 'web_fetch', input: { url: `http://${host}/healthz` } }],
      [{ say: '{{last_result}}' }],
    );
    const read = async (...options: string[]) =>
      (await call(['run', task, '--agents', readers, '--approvals', 'allow', ...options])).stdout;
    expect(await read()).toContain(`${host} is not on the public internet`);
    expect(await read('--allow-private-host', 'other.example', host)).toContain('"status"');
    const elsewhere = await call(['run', 'hello', '--url', server.url, '--allow-private-host', host]);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringContaining('--allow-private-host configure a temporary server'),
    ]);
  });

  it('[Y4] a failed run returns 1 with the reason', async () => {
    const failing = script([{ fail: { status: 400, message: 'no such thing', times: 99 } }]);
    const { code, stdout, stderr } = await call(['run', failing, '--model', 'scripted/echo']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/fleetloom: The run failed: .*no such thing/);
  });

  it('[Y4] a model without a key fails the run, and the message names the missing variable', async () => {
    const { code, stderr } = await call(['run', 'hello', '--model', 'claude-x']);
    expect(code).toBe(1);
    expect(stderr).toContain('Set ANTHROPIC_API_KEY');
  });

  it('[Y4] the task may come from standard input; none is wrong usage', async () => {
    expect(await call(['run', '-', '--model', 'scripted/echo'], { input: 'from a pipe\n' })).toMatchObject({
      code: 0,
      stdout: 'from a pipe\n',
    });
    expect(await call(['run', '--model', 'scripted/echo'], { input: 'also' })).toMatchObject({
      code: 0,
      stdout: 'also\n',
    });
    expect(await call(['run'], { input: '  \n' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('The task is missing.'),
    });
  });

  it('[Y8] --json prints every event of the run once, in order, from request_received to done, and nothing else', async () => {
    const { code, stdout, stderr } = await call(['run', FLEET, '--agents', agents, '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const events = parse(stdout);
    expect(events.every(isFleetEvent)).toBe(true);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['request_received', 'done']);
    expect(new Set(events.map(({ cursor }) => cursor)).size).toBe(events.length);
    const ends = events.filter(({ type }) => type === 'stream_start' || type === 'stream_end');
    expect(ends).toHaveLength(6);
    expect(stdout.split('\n').every((line) => line === '' || line.startsWith('{"type":"'))).toBe(true);
  });

  it('[Y8] --gate decides what of a coordinator’s text arrives; lines of --json are strict by default', async () => {
    const talking = script(
      [{ say: 'Let me think aloud.' }, { call: 'delegate', input: { tasks: [{ agent: 'worker', message: 'hi' }] } }],
      [{ say: 'end' }],
    );
    const typesOf = async (...more: string[]) =>
      parse((await call(['run', talking, '--agents', agents, '--json', ...more])).stdout);
    const textOf = (events: FleetEvent[]) =>
      events.flatMap((event) => (event.type === 'text' && event.stream_id === 0 ? [event.delta] : [])).join('');
    expect(textOf(await typesOf())).toBe('→ delegating: worker\nend');
    const live = await typesOf('--gate', 'live');
    expect(live.some(({ type }) => type === 'text_retract')).toBe(true);
    expect(textOf(await typesOf('--gate', 'off'))).toContain('Let me think aloud.');
    expect((await call(['run', 'x', '--gate', 'open'])).code).toBe(2);
  });

  it('[Y5] without an address a server of its own runs as long as the run, and leaves nothing behind', async () => {
    const before = leftOvers();
    const { code } = await call(['run', 'hello', '--model', 'scripted/echo']);
    expect([code, leftOvers()]).toEqual([0, before]);
  });

  it('[Y5] nothing is left behind either when the reader of its output goes away', async () => {
    buildProgram();
    const place = join(root, 'tmp');
    mkdirSync(place);
    const running = startProgram(['run', SLOW, '--json', '--model', 'scripted/echo'], { TMPDIR: place });
    await running.saw(/"type":"text"/);
    expect(readdirSync(place)).toHaveLength(1);
    running.child.stdout?.destroy();
    expect(await running.ended).toBe(0);
    expect(readdirSync(place)).toEqual([]);
  });

  it('[Y5] files written by agents are kept, and their location is printed', async () => {
    const writing = script(
      [{ call: 'write', input: { file_path: 'report.txt', content: 'kept' } }],
      [{ say: 'written' }],
    );
    const directory = join(root, 'writer');
    mkdirSync(directory);
    writeFileSync(join(directory, 'writer.md'), '---\nname: writer\nmodel: scripted/echo\n---\n');
    const { stderr, code } = await call(['run', writing, '--agents', directory]);
    expect(code).toBe(0);
    const place = /files written by agents are in (.*)\n/.exec(stderr)?.[1] ?? '';
    const [session = ''] = readdirSync(place);
    expect(readFileSync(join(place, session, 'report.txt'), 'utf8')).toBe('kept');
    expect(readdirSync(join(place, '..'))).toEqual(['workspaces']);
    rmSync(join(place, '..'), { recursive: true });
  });

  it('[Y5] with --data everything stays, and the next run finds it; its key is for its owner alone', async () => {
    const data = join(root, 'data');
    expect((await call(['run', 'first', '--data', data, '--model', 'scripted/echo'])).code).toBe(0);
    expect(statSync(join(data, 'local.json')).mode & 0o777).toBe(0o600);
    const second = await call(['run', 'second', '--data', data, '--agents', agents, '--json']);
    expect(second.code).toBe(0);
    const third = await call(['run', 'third', '--data', data, '--agent', 'worker', '--json']);
    expect(parse(third.stdout)[0]).toMatchObject({ type: 'request_received', agent: 'worker' });
    rmSync(join(data, 'local.json'));
    expect(await call(['run', 'x', '--data', data])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has API keys that this command does not know'),
    });
  });

  it('[Y5] the temporary server requires a key, so other users of the machine have no access', async () => {
    const own = await openServer(toLiveIo(new FakeIo()), {});
    const { url, key } = own.connection;
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(401);
    expect((await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    expect(await own.close()).toBe(undefined);
  });

  it('[Y5] a data directory that another process has is refused, and --url with it is wrong usage', async () => {
    expect(await call(['run', 'x', '--data', server.directory])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('another process has'),
    });
    expect(await call(['run', 'x', '--data', root, '--url', server.url])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Omit --url or those options'),
    });
  });

  it('[Y5] the run uses the address from a flag or the environment', async () => {
    const { code, stdout } = await call(['run', FLEET, '--agents', agents, '--json'], { env: server.env });
    expect(code).toBe(0);
    const { data } = await server.get<{ data: { id: string }[] }>('/v1/sessions');
    expect(parse(stdout)[0]?.session_id).toBe(data[0]?.id);
    const again = await call(['run', 'x', '--agent', 'worker', '--url', server.url, '--key', server.key]);
    expect(again).toMatchObject({ code: 0, stdout: 'x\n' });
  });

  it('[Y12] --agent selects the agent; --model is for agents without one, and an option without effect is refused', async () => {
    expect(
      parse((await call(['run', 'x', '--agents', agents, '--agent', 'worker', '--json'])).stdout)[0],
    ).toMatchObject({ agent: 'worker' });
    expect(await call(['run', 'x', '--agent', 'worker', '--model', 'm'], { env: server.env })).toMatchObject({
      code: 2,
    });
    const directory = join(root, 'plain');
    mkdirSync(directory);
    writeFileSync(join(directory, 'plain.yaml'), 'name: plain');
    const { stdout } = await call(['run', 'x', '--agents', directory, '--model', 'scripted/worker', '--json']);
    expect(parse(stdout).find(({ type }) => type === 'stream_start')).toMatchObject({ model: 'scripted/worker' });
  });

  it('[Y6] on a terminal it draws the tree of all agents as it grows, and leaves it there', async () => {
    const terminal = new FakeTerminal(80, 24);
    const talking = delegate('worker', [
      // Long enough to be seen by who is slow, too.
      script([{ say: `slow words come here${' and here'.repeat(12)}`, every_ms: 150 }]),
      script([{ say: 'quick' }]),
    ]);
    const { fake, ended } = begin(['run', talking, '--agents', agents], { terminal, on: 'stderr' });
    // The quick one may end a moment later than the slow one begins.
    const isSeen = (text: string) => /▸ .*worker.*writing/.test(text) && /✓ [├╰]─worker.*done/.test(text);
    await eventually(() => isSeen(terminal.screen.join('\n')));
    const during = terminal.screen.join('\n');
    expect(during).toMatch(/^fleetloom {2}sesn_/m);
    expect(during).toMatch(/^⧗ lead .*waits/m);
    expect(during).toMatch(/^✓ [├╰]─worker.*done/m);
    expect(terminal.cursorShown).toBe(false);
    expect(await ended).toBe(0);
    const after = terminal.lines.join('\n');
    expect(after).toMatch(/^✓ lead/m);
    expect(after.match(/^✓ [├╰]─worker/gm)).toHaveLength(2);
    expect(after).toMatch(/3 threads ✓3 · [\d.]+k tokens · \$0\.00/);
    expect([terminal.cursorShown, terminal.wraps, fake.listeners]).toEqual([true, true, 0]);
    expect(fake.stdout.text).toContain('slow words come here');
    for (const line of terminal.lines.slice(2)) expect(line.length).toBeLessThan(80);
  });

  it('[Y6] text of agents cannot control the terminal', async () => {
    const terminal = new FakeTerminal(80, 24);
    const evil = script([{ say: '\u001b]0;owned\u0007\u001b[2Jwords', every_ms: 20 }]);
    const { ended } = begin(['run', evil, '--model', 'scripted/echo'], { terminal, on: 'stderr' });
    expect(await ended).toBe(0);
    expect(terminal.text).not.toContain('\u001b]');
  });

  it('[Y7] Ctrl-C cancels the run, waits for its end and returns 130', async () => {
    const { fake, ended } = begin(['run', delegate('worker', [SLOW, SLOW]), '--agents', agents, '--json'], {
      env: server.env,
    });
    await eventually(() => (fake.stdout.text.match(/"type":"text"/g) ?? []).length > 3);
    fake.send('SIGINT');
    expect(await ended).toBe(130);
    const events = parse(fake.stdout.text);
    expect(events.at(-1)).toMatchObject({ type: 'done', ok: false, error_code: 'cancelled' });
    expect(events.filter(({ type }) => type === 'stream_end')).toHaveLength(3);
    const { request_id: id } = events[0] as { request_id: string } & FleetEvent;
    expect(await server.ended(id)).toBe('cancelled');
    expect(fake.listeners).toBe(0);
  });

  it('[Y7] SIGTERM does the same and returns 143; on a terminal a message states what it waits for', async () => {
    const terminal = new FakeTerminal(100, 24);
    const { fake, ended } = begin(['run', SLOW, '--model', 'scripted/echo'], { terminal, on: 'stderr' });
    await eventually(() => terminal.screen.join('').includes('writing'));
    fake.send('SIGTERM');
    expect(await ended).toBe(143);
    expect(terminal.lines.join('\n')).toMatch(/■ assistant .*cancelled/);
    expect(terminal.cursorShown).toBe(true);
  });

  it('[Y7] a signal that comes before the run has begun is not forgotten', async () => {
    const { fake, ended } = begin(['run', SLOW, '--json', '--model', 'scripted/echo']);
    await eventually(() => fake.listeners > 0);
    fake.send('SIGINT');
    expect(await ended).toBe(130);
  });

  it('[Y8] a connection that breaks loses nothing and repeats nothing', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
    const { fake, ended } = begin(
      ['run', script([{ say: words, every_ms: 25 }]), '--json', '--model', 'scripted/echo'],
      { env: server.env },
    );
    await eventually(() => fake.stdout.text.includes('w10 '));
    await server.restart();
    expect(await ended).toBe(0);
    const events = parse(fake.stdout.text);
    const seqs = events.map(({ cursor }) => cursor);
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(events.at(-1)).toMatchObject({ type: 'done', ok: true, content: words });
  });

  it('[Y13, Y101] without a terminal and another client, a tool call is denied, and that is printed', async () => {
    const asking = ['run', ASKING_ALONE, '--agents', agents, '--agent', 'asker'];
    const { code, stdout, stderr } = await call(asking);
    expect(code).toBe(0);
    const events = parse((await call([...asking, '--json'])).stdout);
    const resolved = events.find(({ type }) => type === 'approval_resolved');
    expect(resolved).toMatchObject({ result: 'deny', rule: 'no terminal to ask on' });
    expect(stderr).toContain(
      'denied, because there is no terminal to ask on: asker requests approval for bash: echo asked',
    );
    expect(stdout).toContain('no terminal to approve it on');
  });

  it('[Y13, Y101] --approvals allow and deny decide in advance, and the log names that', async () => {
    const allowed = await call([
      'run',
      ASKING,
      '--agents',
      agents,
      '--approvals',
      'allow',
      '--json',
      '--unsandboxed-bash',
    ]);
    const resolvedOf = (stdout: string) => parse(stdout).find(({ type }) => type === 'approval_resolved');
    expect(resolvedOf(allowed.stdout)).toMatchObject({ result: 'allow', rule: '--approvals allow' });
    const denied = await call(['run', ASKING, '--agents', agents, '--approvals', 'deny', '--json']);
    expect(resolvedOf(denied.stdout)).toMatchObject({ result: 'deny', rule: '--approvals deny' });
  });

  it('[Y13] at a terminal a and d answer, and keys are read only while something is asked', async () => {
    for (const [key, result] of [
      ['a', 'allow'],
      ['d', 'deny'],
    ] as const) {
      const terminal = new FakeTerminal(100, 24);
      const { fake, ended } = begin(['run', ASKING, '--agents', agents], { terminal, on: 'stderr', env: server.env });
      await eventually(() => terminal.screen.join('\n').includes('a approve · d deny'));
      expect(terminal.screen.join('\n')).toMatch(/! asker requests approval for bash\n {4}echo asked\n/);
      expect(fake.keyboards).toBe(1);
      fake.type(`z${key}`);
      await eventually(() => fake.keyboards === 0);
      expect(await ended).toBe(0);
      const { data } = await server.get<{ data: { id: string }[] }>('/v1/sessions');
      const exported = await call(['export', data[0]?.id ?? ''], { env: server.env });
      expect(exported.stdout).toMatch(new RegExp(`"type":"user.tool_confirmation".*"result":"${result}"`));
    }
  });

  it('[Y13] Ctrl-C typed while keys are read cancels as the signal does', async () => {
    const terminal = new FakeTerminal(100, 24);
    const { fake, ended } = begin(['run', ASKING, '--agents', agents], { terminal, on: 'stderr' });
    await eventually(() => fake.keyboards === 1);
    fake.type('\u0003');
    expect(await ended).toBe(130);
    expect(fake.keyboards).toBe(0);
  });

  it('[Y13] on another server, another client can decide, and the command for it is printed', async () => {
    const { fake, ended } = begin(['run', ASKING_ALONE, '--agents', agents, '--agent', 'asker'], { env: server.env });
    await eventually(() => fake.stderr.text.includes('Decide with: '));
    const [, session = '', id = ''] = /Decide with: fleetloom approve (\S+) (\S+)/.exec(fake.stderr.text) ?? [];
    expect((await call(['deny', session, id, '--message', 'later'], { env: server.env })).code).toBe(0);
    expect(await ended).toBe(0);
    expect(fake.stdout.text).toContain('later');
  });
});
