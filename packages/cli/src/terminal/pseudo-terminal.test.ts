import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delegate, script, startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { buildProgram } from '../../test-support/processes.ts';
import { hasTerminals, inTerminal, type Session } from '../../test-support/pseudo-terminal.ts';

const SLOW = script([{ say: 'word '.repeat(1_000), every_ms: 50 }]);
const ASKS = script([{ call: 'bash', input: { command: 'echo asked' } }], [{ say: 'went on' }]);

describe.skipIf(!hasTerminals)('in a real pseudo-terminal (skipped without util-linux)', () => {
  let server: TestServer;
  let slow: string;
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-pty-'));
  beforeAll(async () => {
    buildProgram();
    server = await startTestServer();
    const ask = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } };
    await server.post('/v1/agents', { name: 'asker', model: 'scripted/echo', tools: [ask] });
    slow = (await server.begin(SLOW)).sessionId;
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true });
  });

  function expectGivenBack({ terminal, isLineRestored }: Session): void {
    expect([terminal.isAlternate, terminal.cursorShown, terminal.wraps, isLineRestored]).toEqual([
      false,
      true,
      true,
      true,
    ]);
  }

  it('[Y22] q leaves the terminal as it was', async () => {
    const session = await inTerminal(['watch', slow], [{ after: 'writing', keys: 'q' }], server.env);
    expect(session.code).toBe(0);
    expect(session.written).toContain('\u001b[?1049h');
    expectGivenBack(session);
    expect(session.terminal.screen.join('').trim()).toBe('');
  });

  it('[Y22] so do Ctrl-C, SIGTERM and SIGHUP', async () => {
    for (const [step, code] of [
      [{ after: 'writing', keys: '\u0003' }, 130],
      [{ after: 'writing', signal: 'SIGTERM' }, 143],
      [{ after: 'writing', signal: 'SIGHUP' }, 129],
    ] as const) {
      const session = await inTerminal(['watch', slow], [step], server.env);
      expect(session.code).toBe(code);
      expectGivenBack(session);
    }
  });

  it('[Y22] so does a crash, and its message can be read afterwards', async () => {
    const crash = join(directory, 'crash.mjs');
    writeFileSync(crash, "process.on('SIGUSR2', () => { throw new Error('something broke'); });");
    const steps = [{ after: 'writing', signal: 'SIGUSR2' }] as const;
    const session = await inTerminal(['watch', slow], steps, server.env, ['--import', pathToFileURL(crash).href]);
    expect(session.code).toBe(1);
    expectGivenBack(session);
    expect(session.terminal.screen.join('\n')).toContain('Error: something broke');
  });

  it('[Y22] Ctrl-Z stops it with the terminal as it was, and fg brings it back', async () => {
    const session = await inTerminal(
      ['watch', slow],
      [
        { after: 'writing', keys: '\u001a' },
        { after: '\u001b[?1049l', signal: 'SIGCONT' },
        { after: 'writing', keys: 'q' },
      ],
      server.env,
    );
    expect(session.code).toBe(0);
    expectGivenBack(session);
  });

  it('[Y22] it fills the window that it has, and the one that it gets', async () => {
    const session = await inTerminal(
      ['watch', slow],
      [
        { after: 'q quit', size: [12, 60] },
        { after: '\u001b[12;1H', size: [40, 120] },
        { after: 'LAST 60s', keys: 'q' },
      ],
      server.env,
    );
    expect(session.code).toBe(0);
    expect(session.written).toContain('\u001b[24;1H');
    expect(session.written).toContain('\u001b[40;1H');
    expectGivenBack(session);
  });

  it('[Y85] no colours with NO_COLOR, sixteen where there are no more, and lines where the cursor cannot be moved', async () => {
    const quit = [{ after: 'writing', keys: 'q' }] as const;
    const [none, sixteen, dumb] = await Promise.all([
      inTerminal(['watch', slow], quit, { ...server.env, NO_COLOR: '1' }),
      inTerminal(['watch', slow], quit, { ...server.env, TERM: 'xterm', NO_COLOR: '' }),
      inTerminal(['watch', slow], [{ after: 'writing', keys: '\u0003' }], {
        ...server.env,
        TERM: 'dumb',
        NO_COLOR: '',
      }),
    ]);
    const codes = ({ written }: Session) =>
      // oxlint-disable-next-line no-control-regex -- what terminals obey
      new Set(Array.from(written.matchAll(/\u001b\[([\d;]*)m/g), ([, code]) => code));
    expect([...codes(none)]).toEqual([]);
    expect(codes(sixteen).size).toBeGreaterThan(3);
    for (const code of codes(sixteen)) expect(code).toMatch(/^([0-3]|3[0-7])(;([0-3]|3[0-7]))*$/);
    expect(dumb.written).not.toContain('\u001b');
    expect(dumb.written).toMatch(/\d\d:\d\d:\d\d {2}\S+ writing {5}master/);
    expect(dumb.code).toBe(130);
    for (const session of [none, sixteen, dumb]) expectGivenBack(session);
  });

  it('[Y23] a call is approved from the keyboard', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [ASKS]));
    const session = await inTerminal(
      ['watch', sessionId],
      [
        { after: 'needs you', keys: '\u001b[B' },
        { after: 'requests approval for', keys: 'a' },
        { after: 'Approved', keys: 'q' },
      ],
      server.env,
    );
    expect(session.code).toBe(0);
    expect(await server.ended(requestId)).toBe('completed');
  });

  it('[Y33] the inbox, a pattern and the replay work with real keys', async () => {
    const { sessionId, requestId } = await server.begin(delegate('asker', [ASKS, ASKS]));
    const session = await inTerminal(
      ['watch', sessionId],
      [
        { after: 'needs you', keys: 'i' },
        { after: '2 pending', keys: 'A' },
        { after: 'matches 2 of 2', keys: '\r' },
        { after: 'Nothing is pending', keys: '\u001b' },
        { after: 'LAST 60s', keys: 'R' },
        { after: 'REPLAY', keys: '[[' },
        { after: 'REPLAY', keys: 'R' },
        { after: '●', keys: ':quit\r' },
      ],
      server.env,
    );
    expect(session.code).toBe(0);
    expectGivenBack(session);
    expect(await server.ended(requestId)).toBe('completed');
  });

  it('[Y25] a session is chosen with the keyboard, on one screen after the other', async () => {
    const session = await inTerminal(
      ['watch'],
      [
        { after: 'Enter watch', keys: '\r' },
        { after: 'Enter open', keys: 'q' },
      ],
      server.env,
    );
    expect(session.code).toBe(0);
    expectGivenBack(session);
  });

  it('[Y7] Ctrl-C during a run cancels it, and the tree stays to be read', async () => {
    const session = await inTerminal(['run', SLOW, '--model', 'scripted/echo'], [{ after: 'writing', keys: '\u0003' }]);
    expect(session.code).toBe(130);
    expect(session.terminal.lines.join('\n')).toMatch(/■ assistant .*cancelled/);
    expectGivenBack(session);
  });

  it('[Y13] a call of a run is answered with a key', async () => {
    const command = ['run', ASKS, '--agent', 'asker', '--no-workspace'];
    const session = await inTerminal(command, [{ after: 'd deny', keys: 'd' }], server.env);
    expect(session.code).toBe(0);
    expect(session.terminal.lines.join('\n')).toContain('went on');
    expectGivenBack(session);
  });
});
