import { toShortId } from '@fleetloom/protocol/fleet';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type FleetEvent, isFleetEvent } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { delegate, script, startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { begin, call } from '../../test-support/live-io.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const pendingCall = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } };
  await server.post('/v1/agents', { name: 'asker', model: 'scripted/echo', tools: [pendingCall] });
  const human = { type: 'custom', name: 'ask_human', description: 'asks', input_schema: { type: 'object' } };
  await server.post('/v1/agents', { name: 'questioner', model: 'scripted/echo', tools: [human] });
});
afterAll(() => server.close());

const SLOW = script([{ say: 'word '.repeat(400), every_ms: 50 }]);
const ASKS = script([{ call: 'bash', input: { command: 'echo asked' } }], [{ say: 'went on' }]);
const ASKS_TWICE = script(
  [{ call: 'bash', input: { command: 'echo asked' } }],
  [{ call: 'bash', input: { command: 'echo again' } }],
  [{ say: 'went on' }],
);
const ASKS_HUMAN = script([{ call: 'ask_human', input: { question: 'Which?' } }], [{ say: 'went on' }]);
const fleet = (...args: string[]) => call(args, { env: server.env });

function open(args: string[], terminal = new FakeTerminal(80, 24)) {
  const { fake, ended } = begin(['watch', ...args], { terminal, env: server.env });
  const see = async (pattern: RegExp) => {
    await eventually(() => pattern.test(terminal.screen.join('\n'))).catch(() => {
      throw new Error(`the screen never showed ${String(pattern)}:\n${terminal.screen.join('\n')}`);
    });
  };
  return { terminal, fake, ended, see };
}

const isGivenBack = ({ isAlternate, cursorShown, wraps }: FakeTerminal) => !isAlternate && cursorShown && wraps;

describe('fleetloom watch on a terminal', () => {
  it('[Y21] all threads of a running session are there, and move', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [SLOW, ASKS]));
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/asker(?: \d)? +needs you +bash: echo asked/);
    await see(/● /);
    expect(terminal.screen.join('\n')).toMatch(/⧗ +master +waits for 2/);
    expect(terminal.screen.join('\n')).toMatch(/▸ +├─asker(?: \d)? +writing/);
    expect([terminal.screen.length, terminal.isAlternate]).toEqual([24, true]);
    fake.type('q');
    expect(await ended).toBe(0);
    expect(isGivenBack(terminal)).toBe(true);
    expect([fake.listeners, fake.keyboards]).toEqual([0, 0]);
    // Agents keep working after the user quits.
    expect((await server.get<{ state: string }>(`/v1/requests/${requestId}`)).state).toBe('running');
    await fleet('cancel', requestId);
  });

  it('[Y23] a approves, d denies with a message, and both are seen on the screen', async () => {
    for (const [keys, pattern, word] of [
      ['a', /"result":"allow"/, 'Approved: bash of asker'],
      ['dnot here\r', /"result":"deny","deny_message":"not here"/, 'Denied: bash of asker'],
    ] as const) {
      const { sessionId, requestId } = await server.begin(delegate('asker', [ASKS]));
      const { terminal, fake, ended, see } = open([sessionId]);
      await see(/asker(?: \d)? +needs you/);
      fake.type('n');
      await see(/asker requests approval for bash/);
      fake.type(keys);
      await see(new RegExp(word));
      expect(await server.ended(requestId)).toBe('completed');
      await see(/✓ +╰─asker(?: \d)? +done/);
      expect(terminal.screen[0]).not.toContain('!');
      fake.type('q');
      expect(await ended).toBe(0);
      expect((await fleet('export', sessionId)).stdout).toMatch(pattern);
    }
  });

  it('[Y23] s sends a message, x interrupts a thread, and a rejection is shown without closing the view', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [SLOW]));
    const { fake, ended, see } = open([sessionId]);
    await see(/╰─asker(?: \d)? +writing/);
    fake.type('jxy');
    await see(/Interrupting asker/);
    expect(await server.ended(requestId)).toBe('completed');
    await see(/■ +╰─asker(?: \d)? +cancelled/);
    fake.type('ssomething new\r');
    await see(/Said\./);
    await expect.poll(async () => (await fleet('export', sessionId)).stdout).toContain('something new');
    await expect
      .poll(async () => (await server.get<{ status: string }>(`/v1/sessions/${sessionId}`)).status)
      .toBe('idle');
    await server.post(`/v1/sessions/${sessionId}/archive`, {});
    fake.type('stoo late\r');
    await see(/is archived/);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y34] calls that match a pattern are approved at once and later, and the log names the decision maker', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [ASKS, ASKS_TWICE]));
    const { fake, ended, see } = open([sessionId]);
    await see(/!2/);
    fake.type('iA');
    await see(/bash\(command: echo asked\)\s+matches 2 of 2/);
    fake.type('\u0015echo *\r');
    // The second call of the second agent matches too, and is approved automatically.
    expect(await server.ended(requestId)).toBe('completed');
    await see(/Nothing is pending/);
    fake.type('q');
    expect(await ended).toBe(0);
    expect((await fleet('export', sessionId)).stdout.match(/"result":"allow"/g)?.length).toBeGreaterThanOrEqual(3);
  });

  it('[Y35] a tool of one’s own is answered from the keyboard', async () => {
    const { sessionId, requestId } = await server.begin(delegate('questioner', [ASKS_HUMAN]));
    const { fake, ended, see } = open([sessionId]);
    await see(/questioner +needs you +ask_human: Which\?/);
    fake.type('i');
    await see(/questioner waits for the result of ask_human/);
    fake.type('rthe second\r');
    await see(/Answered: ask_human of questioner/);
    expect(await server.ended(requestId)).toBe('completed');
    fake.type('\u001b');
    await see(/questioner +done +went on/);
    expect((await fleet('export', sessionId)).stdout).toContain('"content":[{"type":"text","text":"the second"}]');
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y36] X interrupts all threads below, after y', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [SLOW, SLOW]));
    const { fake, ended, see } = open([sessionId]);
    await see(/╰─asker(?: \d)? +writing/);
    fake.type('X');
    await see(/Stop master and 2 threads below\?/);
    fake.type('y');
    await see(/Interrupting master with all below it/);
    expect(await server.ended(requestId)).toBe('cancelled');
    // One request interrupts all: one by one, a parent would react to the end of a child and continue.
    const { stdout } = await fleet('export', sessionId);
    expect(stdout.match(/"type":"user\.interrupt"/g)).toHaveLength(1);
    await see(/■3/);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y38] R replays the session event by event, and returns to the present', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [script([{ say: 'one two three' }])]));
    await server.ended(requestId);
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/✓2/);
    fake.type('R');
    await see(/REPLAY \d\d:\d\d:\d\d · (\d+)\/\1/);
    fake.type('{'.repeat(3));
    await see(/asker(?: \d)? +working/);
    fake.type('}');
    await see(/✓ +╰─asker(?: \d)? +done/);
    expect(terminal.screen[0]).toMatch(/⚙1|⧗1/);
    fake.type('R');
    await see(/● /);
    await see(/✓2/);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y39] a budget is raised, a title set, the log written to a file, and rejections are shown', async () => {
    const budget = { cost_usd: 5 };
    const agent = { agent_def: { name: 'master', model: 'scripted/echo' }, budget };
    const { sessionId, requestId } = await server.begin('hello', agent);
    await server.ended(requestId);
    const { fake, ended, see } = open([sessionId]);
    await see(/of \$5/);
    fake.type(':budget 20\r');
    await see(/of \$20/);
    fake.type(':title Release\r');
    await see(/The title is now "Release"/);
    expect(await server.get(`/v1/sessions/${sessionId}`)).toMatchObject({ title: 'Release' });
    const file = join(server.directory, 'all.ndjson');
    fake.type(`:export ${file}\r`);
    await see(/\d+ lines written to/);
    expect(readFileSync(file, 'utf8')).toBe((await fleet('export', sessionId)).stdout);
    fake.type(`:export ${file}\r`);
    await see(/EEXIST|already/);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y22] signals end it with the terminal as it was', async () => {
    const { sessionId, requestId } = await server.begin(SLOW);
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const) {
      const { terminal, fake, ended, see } = open([sessionId]);
      await see(/writing/);
      fake.send(signal);
      expect(await ended).toBe(code);
      expect(isGivenBack(terminal)).toBe(true);
    }
    await fleet('cancel', requestId);
  });

  it('[Y22] Ctrl-Z gives terminal and keyboard to the shell, and takes them again', async () => {
    const { sessionId, requestId } = await server.begin(SLOW);
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/writing/);
    let during: unknown[] = [];
    fake.suspend = () => {
      during = [isGivenBack(terminal), fake.keyboards];
    };
    fake.type('\u001a');
    expect(during).toEqual([true, 0]);
    expect([terminal.isAlternate, fake.keyboards]).toEqual([true, 1]);
    fake.type('q');
    expect(await ended).toBe(0);
    await fleet('cancel', requestId);
  });

  it('[Y22] a resized window is redrawn', async () => {
    const { sessionId, requestId } = await server.begin(SLOW);
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/writing/);
    for (const [columns, rows] of [
      [120, 40],
      [40, 10],
      [80, 24],
    ] as const) {
      terminal.resize(columns, rows);
      expect(terminal.screen).toHaveLength(rows);
      expect(terminal.screen[0]).toMatch(/1 thr.*seq/);
      for (const line of terminal.screen) expect(line.length).toBeLessThan(columns);
    }
    fake.type('q');
    expect(await ended).toBe(0);
    await fleet('cancel', requestId);
  });

  it('[Y43] without running threads it draws about once a second, and only changes', async () => {
    const { sessionId, requestId } = await server.begin('hello');
    await server.ended(requestId);
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/● /);
    // The last notice stays for a while.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = terminal.writes.length;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const written = terminal.writes.slice(before);
    // Twenty a second would be fifty. A row has some hundred bytes, a screen two thousand.
    expect(written.length).toBeLessThan(15);
    for (const text of written) expect(text.length).toBeLessThan(1_000);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y26] a restart of the server is shown, and no event is missing afterwards', async () => {
    const words = Array.from({ length: 80 }, (_, index) => `w${index}`).join(' ');
    const { sessionId } = await server.begin(script([{ say: words, every_ms: 20 }]));
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/● /);
    await server.stop();
    await see(/↻ reconnecting/);
    expect(terminal.screen.slice(-3).join(' ')).toMatch(
      /no server at|closed the connection|server responded with status\s+503: the\s+server stops/,
    );
    await server.restart();
    await see(/Reconnected: received \d+ events?, 0 gaps\./);
    await see(/● /);
    await see(/✓ +master +done +.*w79/);
    expect(terminal.screen[0]).not.toContain('gap');
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y26] a deleted session is over, and stays to be looked at', async () => {
    const { sessionId, requestId } = await server.begin('hello');
    await server.ended(requestId);
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/● /);
    await fetch(`${server.url}/v1/sessions/${sessionId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${server.key}` },
    });
    await see(/■ over/);
    expect(terminal.screen.join('\n')).toMatch(/✓ +master +done/);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y25] without an id a session is chosen from the list of all sessions', async () => {
    const first = await server.begin('the first');
    await server.ended(first.requestId);
    const second = await server.begin('the second');
    await server.ended(second.requestId);
    const { terminal, fake, ended, see } = open([], new FakeTerminal(120, 24));
    await see(/fleetloom · \d+ sessions/);
    expect(terminal.screen[1]).toMatch(/^> +1 {2}✓ done +master +the second/);
    fake.type('j');
    await see(/^> +2 {2}✓ done +master +the first/m);
    fake.type('\r');
    await see(new RegExp(`fleetloom · ${first.sessionId}`));
    fake.type('q');
    expect(await ended).toBe(0);
    const left = open([]);
    await left.see(/fleetloom · \d+ sessions/);
    left.fake.type('q');
    expect(await left.ended).toBe(0);
    expect(isGivenBack(left.terminal)).toBe(true);
  });

  it('[Y182, Y501] the list is current, Esc comes back to it, a number, a name or an id jumps, and / searches on the server', async () => {
    const run = await server.begin('count the zebras');
    await server.ended(run.requestId);
    const { fake, ended, see } = open([], new FakeTerminal(120, 24));
    await see(/^> +1 {2}✓ done +master +count the zebras/m);
    // Changes arrive on their own, and the selected session stays selected.
    fake.type('1');
    const other = await server.begin('feed the lions');
    await server.ended(other.requestId);
    await see(/^ +1 {2}✓ done +master +feed the lions/m);
    await see(/^> +2 {2}✓ done +master +count the zebras/m);
    fake.type(':1\r');
    await see(new RegExp(`fleetloom · ${other.sessionId}`));
    fake.type('\u001b');
    await see(/^> +1 {2}✓ done +master +feed the lions/m);
    fake.type(':zebras\r');
    await see(new RegExp(`fleetloom · ${run.sessionId}`));
    fake.type('\u001b');
    await see(/fleetloom · \d+ sessions/);
    fake.type(`:${toShortId(other.sessionId)}\r`);
    await see(new RegExp(`fleetloom · ${other.sessionId}`));
    fake.type('\u001b');
    await see(/fleetloom · \d+ sessions/);
    fake.type(':nothing like it\r');
    await see(/No session matches "nothing like it"/);
    const asking = await server.begin(delegate('asker', [ASKS]));
    const last = await server.begin('count the lions');
    await server.ended(last.requestId);
    await see(/^ +1 {2}✓ done +master +count the lions/m);
    // What needs a person comes first, whatever is newer.
    fake.type('o');
    await see(/^ +1 {2}! needs you/m);
    await see(/o newest first/);
    fake.type('o');
    await see(/^ +1 {2}✓ done +master +count the lions/m);
    await fleet('cancel', asking.requestId);
    fake.type('/zebras\r');
    await see(/fleetloom · 1 session matching "zebras"/);
    fake.type('\u001b');
    await see(/fleetloom · \d+ sessions {2}/);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y24] --until idle exits on its own when every thread is idle', async () => {
    const { sessionId } = await server.begin(script([{ say: 'a b c d e', every_ms: 60 }]));
    const { terminal, ended } = open([sessionId, '--until', 'idle']);
    expect(await ended).toBe(0);
    expect(isGivenBack(terminal)).toBe(true);
    const failing = await server.begin(script([{ fail: { status: 400, times: 99 } }]));
    expect(await open([failing.sessionId, '--until', 'idle']).ended).toBe(1);
    expect((await fleet('watch', failing.sessionId, '--until', 'idle')).code).toBe(1);
  });
});

describe('fleetloom watch elsewhere', () => {
  it('[Y24] into a pipe it prints a line for each change, from the beginning on', async () => {
    const { sessionId } = await server.begin(delegate('asker', [script([{ say: 'one two three', every_ms: 30 }])]));
    const { code, stdout, stderr } = await fleet('watch', sessionId, '--until', 'idle');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/ run req_\w+ begins/);
    expect(stdout).toMatch(/ ✓ done {10}asker {2}one two three\n/);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/ run req_\w+ is done after /);
  });

  it('[Y24] --plain does the same on a terminal, and lasts until it is stopped', async () => {
    const { sessionId, requestId } = await server.begin('hello');
    await server.ended(requestId);
    const { terminal, fake, ended, see } = open([sessionId, '--plain']);
    await see(/is done after/);
    await server.post(`/v1/sessions/${sessionId}/events`, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: 'second' }] }],
    });
    await see(/begins: second/);
    fake.send('SIGINT');
    expect(await ended).toBe(130);
    expect(terminal.isAlternate).toBe(false);
  });

  it('[Y24] --json prints the events of a session, each once', async () => {
    const { sessionId } = await server.begin(SLOW.replace(/word( word){0,0}/, 'word'));
    const { fake, ended } = begin(['watch', sessionId, '--json', '--until', 'idle'], { env: server.env });
    await eventually(() => fake.stdout.text.includes('"type":"text"'));
    await server.post(`/v1/sessions/${sessionId}/events`, { events: [{ type: 'user.interrupt' }] });
    // A run that was stopped has not succeeded.
    expect(await ended).toBe(1);
    const events = fake.stdout.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as FleetEvent);
    expect(events.every(isFleetEvent)).toBe(true);
    expect(new Set(events.map(({ cursor }) => cursor)).size).toBe(events.length);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['request_received', 'done']);
  });

  it('[Y42, Y433] --once prints how it is now, with what waits, and returns the worst of it', async () => {
    const asking = await server.begin(delegate('asker', [ASKS]));
    await expect
      .poll(async () => (await fleet('watch', asking.sessionId, '--once')).stdout)
      .toMatch(/! ╰─asker .* needs you/);
    const { code, stdout } = await fleet('watch', asking.sessionId, '--once');
    expect(code).toBe(7);
    expect(stdout.split('\n')[0]).toMatch(/^fleetloom {2}\S.* sesn_\w+$/);
    expect(stdout).toMatch(/^! sevt_\w+ {2}asker bash: echo asked$/m);
    await fleet('cancel', asking.requestId);
    expect((await fleet('watch', asking.sessionId, '--once')).code).toBe(1);
    const good = await server.begin('hello');
    await server.ended(good.requestId);
    expect((await fleet('watch', good.sessionId, '--once')).code).toBe(0);
    const failed = await server.begin(script([{ fail: { status: 400, times: 99 } }]));
    await server.ended(failed.requestId);
    expect(await fleet('watch', failed.sessionId, '--once')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/✗ master .* failed/),
    });
    expect((await fleet('watch', 'x', '--once', '--json')).code).toBe(2);
  });

  it('[Y25] without an id and without a keyboard the newest that runs is taken, and said', async () => {
    const slow = await server.begin(SLOW);
    const later = await server.begin('hello');
    await server.ended(later.requestId);
    const running = await fleet('watch', '--once');
    expect(running.stderr).toBe(`fleetloom: watching ${slow.sessionId}\n`);
    await fleet('cancel', slow.requestId);
    expect((await fleet('watch', '--once')).stderr).toBe(`fleetloom: watching ${later.sessionId}\n`);
  });

  it('[Y25] it is found behind any number of sessions that rest', async () => {
    const asked: string[] = [];
    const stranger = createServer((request, response) => {
      asked.push(request.url ?? '');
      const isList = request.url?.startsWith('/v1/fleet/sessions?') === true;
      const id = request.url?.includes('running') === true ? 'sesn_old' : 'sesn_new';
      const body = isList ? { data: [{ id, state: 'done' }], next_cursor: null } : {};
      response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    expect((await call(['watch', '--once', '--url', url, '--key', 'k'])).code).toBe(4);
    expect(asked.at(-1)).toBe('/v1/sessions/sesn_old');
    stranger.closeAllConnections();
    await new Promise((resolve) => stranger.close(resolve));
  });

  it('[Y80] a wrong clock of this machine makes no thread appear stalled, and ages follow the server', async () => {
    const { sessionId, requestId } = await server.begin(SLOW);
    const done = await server.begin('hello');
    await server.ended(done.requestId);
    for (const clockMs of [3_600_000, -3_600_000]) {
      const { code, stdout } = await call(['watch', sessionId, '--once'], { env: server.env, clockMs });
      expect([code, stdout]).toEqual([0, expect.stringMatching(/master .* writing .* {2}[\d.]+ m?s\n/)]);
      const listed = await call(['sessions', '--limit', '1'], { env: server.env, clockMs });
      expect(listed.stdout).toMatch(/ (?:done|running) {2,}master {2}\d+s /);
    }
    await fleet('cancel', requestId);
  });

  it('[Y105] the snapshot of a stalled session has the health that the server reports', async () => {
    const { sessionId, requestId } = await server.begin(script([{ sleep_ms: 600_000 }, { say: 'late' }]));
    const health = () => server.get<{ threads: { doing: string }[] }>(`/v1/sessions/${sessionId}/health`);
    await expect.poll(async () => (await health()).threads.map(({ doing }) => doing)).toEqual(['request']);
    // A server whose clock is ahead is one at which more time has passed.
    const ahead = createServer(({ url = '/', headers: { authorization = '' } }, response) => {
      void fetch(`${server.url}${url}`, { headers: { authorization } }).then(async ({ status, headers, body }) => {
        const date = new Date(Date.now() + 70_000).toUTCString();
        response.writeHead(status, { 'content-type': headers.get('content-type') ?? '', date });
        for await (const bytes of body!) response.write(bytes);
        response.end();
      });
    });
    await new Promise<void>((resolve) => ahead.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(ahead.address() as AddressInfo).port}`;
    const { code, stdout } = await call(['watch', sessionId, '--once', '--url', url, '--key', server.key]);
    expect([code, stdout]).toEqual([
      8,
      expect.stringMatching(/master {2}model request running for 1 min \d\d s.* stalled .* 1 min \d\d s\n/),
    ]);
    ahead.closeAllConnections();
    await new Promise((resolve) => ahead.close(resolve));
    await fleet('cancel', requestId);
  });

  it('[Y20] no thread is stalled in lines about history', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [script([{ say: 'one two' }])]));
    await server.ended(requestId);
    const late = { env: server.env, clockMs: 3_600_000 };
    const { stdout } = await call(['watch', sessionId, '--plain', '--until', 'idle'], late);
    expect(stdout).toMatch(/◐ working {5}master/);
    expect(stdout).not.toContain('stalled');
  });
});
