import { describe, expect, it } from 'vitest';
import { eventually, FakeIo, settle } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { readRecording, recordingPath } from '../../test-support/fixtures.ts';
import { wire } from '../../test-support/lines.ts';
import { limits } from '../base/limits.ts';
import { translate } from './translate.ts';

const GOOD = '2.1.325/agents-forward';

describe('fleetloom translate', () => {
  it('[C1] into a pipe it prints one event per line, dense and in order', async () => {
    const io = new FakeIo({ input: readRecording(GOOD) });
    expect(await translate(io, undefined, {})).toBe(0);
    const stdout = outputOf(io);
    expect(stdout.endsWith('\n')).toBe(true);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.type).toBe('turn_complete');
    expect(io.stderr.text).toBe('');
  });

  it('[C1] on a terminal it shows the tree, live, from before the first line to after the last', async () => {
    const terminal = new FakeTerminal(80, 24);
    const io = new FakeIo({ terminal });
    const code = translate(io, '-', {});
    await eventually(() => terminal.text !== '');
    expect(terminal.screen[2]).toMatch(/^◐ main +waiting/);
    expect(io.stdin.taken).toBe(0);
    io.stdin.push(wire.init() + wire.text('Let me see.') + wire.call('t', 'Bash', { command: 'ls' }));
    await eventually(() => io.stdin.taken === 1);
    await io.timers.advance(1_500);
    expect(terminal.screen[4]).toMatch(/^╰ . Bash {2}ls +1\.[45] s$/);
    io.stdin.push(wire.result('t', 'x') + wire.end({ duration_ms: 1_500, total_cost_usd: 0.01 }));
    io.stdin.end();
    expect(await code).toBe(0);
    expect(terminal.screen.slice(2)).toEqual([
      '✓ main                                                         done       1.5 s',
      '│ Let me see.',
      '├ ✓ Bash  ls                                                              1.5 s',
      '╰ ✓ turn done                                                 $0.01       1.5 s',
      '',
      '1 agent · 1 call                                              $0.01       1.5 s',
      '',
    ]);
    expect([terminal.cursorShown, io.listeners, io.timers.pending]).toEqual([true, 0, 0]);
  });

  it('[C1] --tree into a pipe prints the final tree once, as plain text', async () => {
    const io = new FakeIo({ input: readRecording(GOOD) });
    expect(await translate(io, undefined, { tree: true })).toBe(0);
    expect(outputOf(io)).not.toContain('\u001b');
    expect(outputOf(io).match(/^fleetloom/gm)).toHaveLength(1);
    expect(outputOf(io)).toContain('├─✓ Search alpha');
  });

  it('[C1] --json on a terminal prints events, with what a terminal would obey escaped', async () => {
    const terminal = new FakeTerminal(80, 24);
    const io = new FakeIo({ terminal, input: wire.init() + wire.text('a\u009b2Jb\u202e') + wire.end() });
    expect(await translate(io, undefined, { json: true })).toBe(0);
    expect(terminal.text).toContain('a\\u009b2Jb\\u202e');
    const text = terminal.text.split('\n').find((line) => line.includes('text_delta')) ?? '';
    expect(JSON.parse(text)).toMatchObject({ content: 'a\u009b2Jb\u202e' });
  });

  it('[C1] TERM=dumb gets the tree once, at the end', async () => {
    const terminal = new FakeTerminal(80, 50);
    const io = new FakeIo({ terminal, input: readRecording(GOOD), env: { TERM: 'dumb' } });
    expect(await translate(io, undefined, {})).toBe(0);
    expect(terminal.text).not.toContain('\u001b');
    expect(terminal.lines[2]).toMatch(/^✓ main/);
  });

  it('[C2] durations are redrawn ten times a second while an agent runs, and not at all otherwise', async () => {
    const terminal = new FakeTerminal(80, 24);
    const io = new FakeIo({ terminal });
    const code = translate(io, undefined, {});
    io.stdin.push(wire.init());
    await eventually(() => io.stdin.taken === 1);
    const frames = async () => {
      const before = terminal.writes.length;
      await io.timers.advance(2_000);
      return terminal.writes.length - before;
    };
    expect(await frames()).toBe(2_000 / limits.tickMs);
    io.stdin.push(wire.end());
    await eventually(() => io.stdin.taken === 2);
    await frames();
    expect(await frames()).toBe(0);
    io.stdin.end();
    expect(await code).toBe(0);
  });

  it('[C15] the answer is left on the terminal up to a limit', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}.`).join('\n');
    for (const [count, shown] of [
      [limits.answerRowsMax, limits.answerRowsMax],
      [limits.answerRowsMax + 1, limits.answerRowsMax],
    ] as const) {
      const io = new FakeIo({ input: wire.init() + wire.text(lines(count)) + wire.end() });
      await translate(io, undefined, { tree: true });
      expect(outputOf(io).match(/line \d+\./g)).toHaveLength(shown);
      expect(/ …$/m.test(outputOf(io))).toBe(count > shown);
    }
  });

  it('[C3] while the reader does not read, nothing more is read', async () => {
    const io = new FakeIo();
    const written: string[] = [];
    io.stdout.write = (text: string) => {
      written.push(text);
      return false;
    };
    const code = translate(io, undefined, { json: true });
    io.stdin.push(wire.init());
    io.stdin.push(wire.text('one'));
    io.stdin.push(wire.text('two'));
    io.stdin.end();
    await settle();
    expect([written.length, io.stdin.taken]).toEqual([1, 1]);
    io.stdout.emit('drain');
    await settle();
    expect([written.length, io.stdin.taken]).toEqual([2, 2]);
    const drain = setInterval(() => io.stdout.emit('drain'), 1);
    expect(await code).toBe(1);
    clearInterval(drain);
    expect(io.stdout.listenerCount('drain')).toBe(0);
  });

  it('[C4] a file redirected with < is a recording: no time is invented', async () => {
    const io = new FakeIo({ input: readRecording('2.1.197/agents-forward') });
    io.stdin.isFile = true;
    await translate(io, undefined, { tree: true });
    expect(outputOf(io)).toMatch(/✓ Bash {2}echo alpha-one$/m);
  });

  it('[C8] Ctrl-C leaves the tree as it is known and returns 130', async () => {
    const terminal = new FakeTerminal(80, 24);
    const io = new FakeIo({ terminal });
    const code = translate(io, undefined, {});
    io.stdin.push(wire.init() + wire.text('Working on it.'));
    await eventually(() => io.stdin.taken === 1);
    io.send('SIGINT');
    expect(await code).toBe(130);
    expect(terminal.screen.join('\n')).toMatch(/… main +unfinished[\s\S]*Working on it\./);
    expect([terminal.cursorShown, terminal.wraps, io.listeners, io.timers.pending]).toEqual([true, true, 0, 0]);
  });

  it('[C8] SIGTERM and SIGHUP end it likewise', async () => {
    for (const [signal, expected] of [
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const) {
      const io = new FakeIo();
      const code = translate(io, undefined, { json: true });
      await settle();
      io.send(signal);
      expect(await code).toBe(expected);
    }
  });

  it.each([
    ['a good run', wire.init() + wire.end(), 0, ''],
    ['a failed turn', wire.init() + wire.end({ is_error: true }), 1, ''],
    ['a failed turn that was made good', wire.init() + wire.end({ is_error: true }) + wire.init() + wire.end(), 0, ''],
    ['no result', wire.init() + wire.text('x'), 1, 'ends without a result'],
    ['an open turn', wire.init() + wire.end() + wire.init(), 1, 'ends without a result'],
    ['a line that is cut off', wire.init() + wire.end() + '{"type":"assis', 1, '1 line could not be read'],
    ['nothing', '', 1, 'The input was empty. Record a stream with: claude -p'],
    ['other text', 'Hello,\nhere is your answer.\n', 1, 'the first begins with "Hello,". Record a stream with'],
  ])('[C8] %s: the exit code and the message', async (_, input, expected, said) => {
    const io = new FakeIo({ input });
    expect(await translate(io, undefined, {})).toBe(expected);
    if (said === '') expect(io.stderr.text).toBe('');
    else expect(io.stderr.text).toContain(said);
  });

  it('[C9] a file, a gzipped file and standard input give the same', async () => {
    const printed = async (file: string | undefined, input?: string) => {
      const io = new FakeIo(input === undefined ? {} : { input });
      await translate(io, file, { json: true });
      return outputOf(io);
    };
    expect(await printed(recordingPath(GOOD))).toBe(await printed('-', readRecording(GOOD)));
    const gzipped = '2.1.325/long-text-1mb';
    expect(recordingPath(gzipped)).toMatch(/\.gz$/);
    expect(await printed(recordingPath(gzipped))).toBe(await printed(undefined, readRecording(gzipped)));
  });

  it('[C9] an input that cannot be read is an error that states what to do', async () => {
    const io = new FakeIo();
    await expect(translate(io, '/no/such/file', {})).rejects.toThrow('There is no file "/no/such/file".');
    await expect(translate(io, '/', {})).rejects.toThrow('"/" is not a file.');
    await expect(translate(io, undefined, { json: true, tree: true })).rejects.toThrow('cannot be combined with');
    io.stdin.isTTY = true;
    await expect(translate(io, undefined, {})).rejects.toThrow('No input: pass a file');
    await expect(translate(brokenGzip(), undefined, {})).rejects.toThrow('gzipped input is damaged');
  });
});

function outputOf(io: FakeIo): string {
  return io.stdout.text;
}

function brokenGzip(): FakeIo {
  const io = new FakeIo();
  io.stdin.pushBytes(Uint8Array.of(0x1f, 0x8b, 8, 0, 1, 2, 3));
  io.stdin.end();
  return io;
}
