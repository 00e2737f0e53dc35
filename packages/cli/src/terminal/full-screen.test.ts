import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { limits } from '../base/limits.ts';
import { FullScreen } from './full-screen.ts';
import { parseKeys } from './parse-keys.ts';

function start(columns = 40, rows = 6) {
  const terminal = new FakeTerminal(columns, rows);
  terminal.write('$ before\r\n');
  const io = new FakeIo({ terminal });
  const picture = { lines: ['one', 'two'], asked: 0 };
  const screen = new FullScreen(io, () => {
    picture.asked += 1;
    return picture.lines;
  });
  screen.start();
  return { terminal, io, picture, screen };
}

const isAsBefore = (terminal: FakeTerminal) =>
  !terminal.isAlternate && terminal.cursorShown && terminal.wraps && terminal.screen.join('\n') === '$ before\n';

describe('FullScreen', () => {
  it('[Y22] it draws on the second screen, without a cursor', () => {
    const { terminal } = start();
    expect([terminal.isAlternate, terminal.cursorShown, terminal.wraps]).toEqual([true, false, false]);
    expect(terminal.screen.slice(0, 2)).toEqual(['one', 'two']);
  });

  it('[Y22] at the end the normal screen is restored, and all listeners are removed', () => {
    const { terminal, io, screen } = start();
    screen.stop();
    expect(isAsBefore(terminal)).toBe(true);
    expect([io.listeners, io.timers.pending, terminal.listenerCount('resize')]).toEqual([0, 0, 0]);
  });

  it('[Y22] nothing is drawn after the end, also if a picture was due when it came', async () => {
    const { terminal, io, picture, screen } = start();
    screen.update();
    // The timer is due, and something else comes first.
    io.timers.nowMs += 2 * limits.frameMsMin;
    screen.update();
    screen.stop();
    picture.lines = ['late'];
    await io.timers.advance(1_000);
    expect([isAsBefore(terminal), io.timers.pending]).toEqual([true, 0]);
  });

  it('[Y22] a crash gives the terminal back, and leaving after it does no harm', () => {
    const { terminal, io, screen } = start();
    io.exit();
    expect(isAsBefore(terminal)).toBe(true);
    screen.stop();
    expect(isAsBefore(terminal)).toBe(true);
  });

  it('[Y22] the shell has its terminal while the program is suspended, and the screen is restored completely', () => {
    const { terminal, io, screen } = start();
    let wasAsBefore = false;
    io.suspend = () => {
      wasAsBefore = isAsBefore(terminal);
      terminal.write('$ fg\r\n');
    };
    screen.suspend();
    expect(wasAsBefore).toBe(true);
    expect([terminal.isAlternate, terminal.cursorShown]).toEqual([true, false]);
    expect(terminal.screen.slice(0, 2)).toEqual(['one', 'two']);
  });

  it('[Y22] after a resize, the screen is drawn again', () => {
    const terminal = new FakeTerminal(40, 6);
    const screen = new FullScreen(new FakeIo({ terminal }), (columns, rows) =>
      Array.from({ length: rows }, (_, row) => `${row}:${'x'.repeat(columns - 3)}`),
    );
    screen.start();
    for (const [columns, rows] of [
      [20, 4],
      [60, 10],
      [10, 2],
    ] as const) {
      terminal.resize(columns, rows);
      expect(terminal.screen).toEqual(Array.from({ length: rows }, (_, row) => `${row}:${'x'.repeat(columns - 3)}`));
    }
  });

  it('[Y22] any sequence of pictures leaves exactly the last one', async () => {
    const lines = fc.array(fc.constantFrom('a', 'bb', 'ccc', ''), { maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(fc.array(lines, { minLength: 1 }), async (pictures) => {
        const { terminal, io, picture, screen } = start(10, 6);
        for (const next of pictures) {
          picture.lines = next;
          await io.timers.advance(limits.frameMsMin);
          screen.update();
        }
        const last = (pictures.at(-1) ?? []).slice(0, 6);
        expect(terminal.screen.join('\n').trimEnd()).toBe(last.join('\n').trimEnd());
      }),
      { numRuns: 60 },
    );
  });

  it('[Y22] however often it is asked, it draws 20 times a second, and only what changed is written', async () => {
    const { terminal, io, picture, screen } = start();
    picture.asked = 0;
    for (let ms = 0; ms < 1000; ms += 1) {
      picture.lines = ['same', String(ms)];
      screen.update();
      await io.timers.advance(1);
    }
    expect(picture.asked).toBe(1000 / limits.frameMsMin);
    expect(terminal.writes.at(-1)).not.toContain('same');
    terminal.writableNeedDrain = true;
    picture.lines = ['skipped'];
    await io.timers.advance(100);
    screen.update();
    expect(terminal.screen.join('')).not.toContain('skipped');
  });
});

describe('parseKeys', () => {
  it('[Y23] keys with names are known in all the ways that terminals send them', () => {
    expect(parseKeys('\u001b[A\u001bOB\u001b[5~\u001b[6~\u001b[H\u001b[4~\r\u007f\u0003\u001a\u0015\u001b')).toEqual([
      'up',
      'down',
      'page-up',
      'page-down',
      'home',
      'end',
      'enter',
      'backspace',
      'interrupt',
      'suspend',
      'clear-line',
      'escape',
    ]);
  });

  it('[Y23] text keys are inserted completely, and unknown keys insert nothing', () => {
    expect(parseKeys('aé漢👍e\u0301')).toEqual([
      { typed: 'a' },
      { typed: 'é' },
      { typed: '漢' },
      { typed: '👍' },
      { typed: 'e\u0301' },
    ]);
    expect(parseKeys('\u001b[1;5C\u001b[<0;1;1M\u0000\u0007x')).toEqual([{ typed: 'x' }]);
  });

  it('[Y23] any text at all is read without harm', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const key of parseKeys(text)) {
          // oxlint-disable-next-line no-control-regex -- they are what must not be left
          if (typeof key === 'object') expect(key.typed).not.toMatch(/[\u0000-\u001f\u007f]/);
        }
      }),
    );
  });
});
