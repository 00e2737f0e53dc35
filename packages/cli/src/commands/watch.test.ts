import { type FleetEvent, isFleetEvent } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { delegate, script, startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { begin, call } from '../../test-support/live-io.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const ask = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } };
  await server.post('/v1/agents', { name: 'asker', model: 'scripted/echo', tools: [ask] });
});
afterAll(() => server.close());

const SLOW = script([{ say: 'word '.repeat(400), every_ms: 50 }]);
const ASKS = script([{ call: 'bash', input: { command: 'echo asked' } }], [{ say: 'went on' }]);
const fleet = (...args: string[]) => call(args, { env: server.env });

function open(args: string[], terminal = new FakeTerminal(80, 24)) {
  const { fake, ended } = begin(['watch', ...args], { terminal, env: server.env });
  const see = (pattern: RegExp) => eventually(() => pattern.test(terminal.screen.join('\n')));
  return { terminal, fake, ended, see };
}

const isGivenBack = ({ isAlternate, cursorShown, wraps }: FakeTerminal) => !isAlternate && cursorShown && wraps;

describe('fleetloom watch on a terminal', () => {
  it('[Y21] all threads of a running session are there, and move', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [SLOW, ASKS]));
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/asker +needs you +bash: echo asked/);
    await see(/✓ live/);
    expect(terminal.screen.join('\n')).toMatch(/○ master +waits/);
    expect(terminal.screen.join('\n')).toMatch(/▸ ├─asker +writing/);
    expect([terminal.screen.length, terminal.isAlternate]).toEqual([24, true]);
    fake.type('q');
    expect(await ended).toBe(0);
    expect(isGivenBack(terminal)).toBe(true);
    expect([fake.listeners, fake.keyboards]).toEqual([0, 0]);
    // Leaving stops nobody.
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
      await see(/asker +needs you/);
      fake.type('n');
      await see(/asker asks for bash/);
      fake.type(keys);
      await see(new RegExp(word));
      expect(await server.ended(requestId)).toBe('completed');
      await see(/✓ ╰─asker +done/);
      expect(terminal.screen.join('\n')).not.toContain('need you');
      fake.type('q');
      expect(await ended).toBe(0);
      expect((await fleet('export', sessionId)).stdout).toMatch(pattern);
    }
  });

  it('[Y23] s speaks to the coordinator, x stops a thread, and what is refused is told without an end', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [SLOW]));
    const { fake, ended, see } = open([sessionId]);
    await see(/╰─asker +writing/);
    fake.type('jxy');
    await see(/asker is told to stop/);
    expect(await server.ended(requestId)).toBe('completed');
    await see(/■ ╰─asker +cancelled/);
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

  it('[Y22] a resized window is filled anew', async () => {
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
      expect(terminal.screen[0]).toContain('fleetloom');
      for (const line of terminal.screen) expect(line.length).toBeLessThan(columns);
    }
    fake.type('q');
    expect(await ended).toBe(0);
    await fleet('cancel', requestId);
  });

  it('[Y26] a server that goes and comes back is told, and nothing is missing afterwards', async () => {
    const words = Array.from({ length: 80 }, (_, index) => `w${index}`).join(' ');
    const { sessionId } = await server.begin(script([{ say: words, every_ms: 20 }]));
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/✓ live/);
    await server.stop();
    await see(/↻ reconnecting/);
    expect(terminal.screen.at(-1)).toMatch(/no server at|has closed the connection/);
    await server.restart();
    await see(/✓ live/);
    await see(/✓ master +done +.*w79/);
    expect(terminal.screen[0]).not.toContain('gaps');
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y26] a deleted session is over, and stays to be looked at', async () => {
    const { sessionId, requestId } = await server.begin('hello');
    await server.ended(requestId);
    const { terminal, fake, ended, see } = open([sessionId]);
    await see(/✓ live/);
    await fetch(`${server.url}/v1/sessions/${sessionId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${server.key}` },
    });
    await see(/■ over/);
    expect(terminal.screen.join('\n')).toMatch(/✓ master +done/);
    fake.type('q');
    expect(await ended).toBe(0);
  });

  it('[Y25] without an id a session is chosen from a list', async () => {
    const first = await server.begin('the first');
    await server.ended(first.requestId);
    const second = await server.begin('the second');
    await server.ended(second.requestId);
    const { terminal, fake, ended, see } = open([], new FakeTerminal(120, 24));
    await see(/choose a session/);
    expect(terminal.screen[1]).toMatch(new RegExp(`^> ${second.sessionId} {2}idle`));
    fake.type('j');
    await see(new RegExp(`> ${first.sessionId}`));
    fake.type('\r');
    await see(new RegExp(`fleetloom · ${first.sessionId}`));
    fake.type('q');
    expect(await ended).toBe(0);
    const left = open([]);
    await left.see(/choose a session/);
    left.fake.type('q');
    expect(await left.ended).toBe(0);
    expect(isGivenBack(left.terminal)).toBe(true);
  });

  it('[Y24] --until idle leaves by itself when nothing runs any more', async () => {
    const { sessionId } = await server.begin(script([{ say: 'a b c d e', every_ms: 60 }]));
    const { terminal, ended } = open([sessionId, '--until', 'idle']);
    expect(await ended).toBe(0);
    expect(isGivenBack(terminal)).toBe(true);
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
    expect(await ended).toBe(0);
    const events = fake.stdout.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as FleetEvent);
    expect(events.every(isFleetEvent)).toBe(true);
    expect(new Set(events.map(({ cursor }) => cursor)).size).toBe(events.length);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['request_received', 'done']);
  });

  it('[Y24] --once prints how it is now, with what waits, and tells a failed run with 1', async () => {
    const asking = await server.begin(delegate('asker', [ASKS]));
    await expect
      .poll(async () => (await fleet('watch', asking.sessionId, '--once')).stdout)
      .toMatch(/! ╰─asker .* needs you/);
    const { code, stdout } = await fleet('watch', asking.sessionId, '--once');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^! sevt_\w+ {2}asker bash: echo asked$/m);
    await fleet('cancel', asking.requestId);
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
});
