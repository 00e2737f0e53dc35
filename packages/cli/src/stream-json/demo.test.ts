import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually, FakeIo, settle } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { FIXTURES } from '../../test-support/fixtures.ts';
import { loadTextWidth } from '../terminal/text-width.ts';
import { demo } from './demo.ts';

const bundled = (name: string) => readFileSync(new URL(`../../demo/${name}`, import.meta.url), 'utf8');

/** Plays to the end and returns how long that took. */
async function play(speed: number) {
  const terminal = new FakeTerminal(80, 24);
  const io = new FakeIo({ terminal });
  const startedAtMs = io.timers.nowMs;
  const result: { code?: number } = {};
  const ended = demo(io, { speed }).then((code) => {
    result.code = code;
  });
  const screens: string[] = [];
  await started(terminal);
  while (result.code === undefined) {
    await settle();
    await io.timers.advance(250);
    screens.push(terminal.screen.join('\n'));
  }
  await ended;
  return { terminal, code: result.code, screens, tookMs: io.timers.nowMs - startedAtMs };
}

/** Loading takes real time, in which the recording's clock stands still. */
async function started(terminal: FakeTerminal): Promise<void> {
  await eventually(() => terminal.text !== '');
  await loadTextWidth();
  await settle();
}

describe('fleetloom demo', () => {
  it('[C13] the recording is one of the corpus, with the arrival times it had', () => {
    const recording = `${FIXTURES}2.1.325/agents-forward-many`;
    const side = JSON.parse(readFileSync(`${recording}.side.json`, 'utf8')) as { arrivalMs: number[] };
    const arrival = JSON.parse(bundled('four-workers.arrival.json')) as { startedAt: string; arrivalMs: number[] };
    expect(bundled('four-workers.ndjson')).toBe(readFileSync(`${recording}.ndjson`, 'utf8'));
    expect(arrival.arrivalMs).toEqual(side.arrivalMs);
    expect(arrival.arrivalMs).toHaveLength(bundled('four-workers.ndjson').trimEnd().split('\n').length);
  });

  it('[C13] it plays in 10 to 15 seconds, with several agents running at once', async () => {
    const { tookMs, code, screens, terminal } = await play(1);
    expect(code).toBe(0);
    expect(tookMs).toBeGreaterThan(10_000);
    expect(tookMs).toBeLessThan(15_000);
    expect(screens.some((screen) => (screen.match(/─[▸◐◓◑◒⚙] Search/g) ?? []).length === 4)).toBe(true);
    for (const screen of screens) expect(screen.split('\n').length).toBeLessThanOrEqual(24);
    expect(terminal.cursorShown).toBe(true);
  });

  it('[C13] --speed 4 takes a quarter of the time, and the shown times are those of the recording', async () => {
    const [slow, fast] = [await play(1), await play(4)];
    expect(slow.tookMs / fast.tookMs).toBeGreaterThan(3.4);
    for (const { terminal } of [slow, fast]) {
      expect(terminal.lines.join('\n')).toMatch(/─✓ Search alpha .*753 ms/);
      expect(terminal.lines.join('\n')).toMatch(/✓ turn done .*996 ms/);
    }
  });

  it('[C13] into a pipe it prints the final tree at once, and what to do next', async () => {
    const io = new FakeIo();
    expect(await demo(io, { speed: 1 })).toBe(0);
    const lines = io.stdout.text.split('\n');
    expect(lines[0]).toMatch(/^fleetloom {2}demo: a recorded run/);
    expect(io.stdout.text).not.toContain('\u001b');
    expect(lines.slice(-4)).toEqual([
      '',
      '$ claude -p "hi" --output-format stream-json --verbose | npx fleetloom translate',
      '$ npx fleetloom inspect run.ndjson   the whole transcript of a saved run',
      '',
    ]);
  });

  it('[C13] Ctrl-C ends it with the tree as far as it came', async () => {
    const terminal = new FakeTerminal(80, 60);
    const io = new FakeIo({ terminal });
    const code = demo(io, { speed: 1 });
    await started(terminal);
    await io.timers.advance(5_000);
    io.send('SIGINT');
    expect(await code).toBe(130);
    expect(terminal.screen.join('\n')).toMatch(/─… Search alpha .*unfinished/);
    expect(terminal.cursorShown).toBe(true);
  });
});
