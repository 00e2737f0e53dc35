import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { limits } from '../base/limits.ts';
import { LiveScreen } from './live-screen.ts';

function start(columns = 40, rows = 10) {
  const terminal = new FakeTerminal(columns, rows);
  terminal.write('$ before\r\n');
  const io = new FakeIo({ terminal });
  const picture = { lines: ['one', 'two'], asked: 0 };
  const screen = new LiveScreen(io, () => {
    picture.asked += 1;
    return picture.lines;
  });
  screen.start();
  return { terminal, io, picture, screen };
}

describe('LiveScreen', () => {
  it('[C2] the first picture is drawn at once, below earlier output, with the cursor hidden', () => {
    const { terminal } = start();
    expect(terminal.screen).toEqual(['$ before', 'one', 'two', '']);
    expect([terminal.cursorShown, terminal.wraps]).toEqual([false, false]);
  });

  it('[C2] only lines that changed are written', async () => {
    const { terminal, io, picture, screen } = start();
    picture.lines = ['one', 'TWO', 'three'];
    await io.timers.advance(limits.frameMsMin);
    screen.update();
    expect(terminal.screen).toEqual(['$ before', 'one', 'TWO', 'three', '']);
    expect(terminal.writes.at(-1)).not.toContain('one');
    const writes = terminal.writes.length;
    await io.timers.advance(limits.frameMsMin);
    screen.update();
    expect(terminal.writes).toHaveLength(writes);
  });

  it('[C2] however often it is asked, it draws 20 times a second', async () => {
    const { io, picture, screen } = start();
    picture.asked = 0;
    for (let ms = 0; ms < 1000; ms += 1) {
      picture.lines = [String(ms)];
      screen.update();
      await io.timers.advance(1);
    }
    expect(picture.asked).toBe(1000 / limits.frameMsMin);
  });

  it('[C2] the last change is drawn even when nothing follows it', async () => {
    const { terminal, io, picture, screen } = start();
    picture.lines = ['last'];
    screen.update();
    expect(terminal.screen).toContain('one');
    await io.timers.advance(limits.frameMsMin);
    expect(terminal.screen).toEqual(['$ before', 'last', '']);
  });

  it('[C2] a terminal that cannot keep up gets fewer pictures', async () => {
    const { terminal, io, picture, screen } = start();
    terminal.writableNeedDrain = true;
    await io.timers.advance(100);
    picture.lines = ['skipped'];
    screen.update();
    expect(terminal.screen).toContain('one');
  });

  it('[C2] the picture is never taller than the screen less one row', async () => {
    const { terminal, io, picture, screen } = start(40, 6);
    picture.lines = Array.from({ length: 50 }, (_, index) => `line ${index}`);
    await io.timers.advance(100);
    screen.update();
    expect(terminal.screen).toEqual(['line 0', 'line 1', 'line 2', 'line 3', 'line 4', '']);
    picture.lines = ['short'];
    await io.timers.advance(100);
    screen.update();
    expect(terminal.lines.filter((line) => line.startsWith('line'))).toEqual([]);
  });

  it('[C2] a terminal that does not know its size is taken for one of 80 by 24', () => {
    const terminal = new FakeTerminal(80, 24);
    terminal.rows = 0;
    let room = 0;
    const screen = new LiveScreen(new FakeIo({ terminal }), (rowsMax) => {
      room = rowsMax;
      return [];
    });
    screen.start();
    expect(room).toBe(23);
  });

  it('[C2] any sequence of pictures leaves exactly the last one', async () => {
    const lines = fc.array(fc.constantFrom('a', 'bb', 'ccc', 'dddd', ''), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(lines, { minLength: 1 }), async (pictures) => {
        const { terminal, io, picture, screen } = start(40, 10);
        for (const next of pictures) {
          picture.lines = next;
          await io.timers.advance(limits.frameMsMin);
          screen.update();
        }
        const last = (pictures.at(-1) ?? []).slice(0, 9);
        expect(terminal.screen.slice(-last.length - 1)).toEqual([...last, '']);
      }),
      { numRuns: 50 },
    );
  });

  it('[C2] after the window was made narrower or wider nothing is left of the old picture', () => {
    const { terminal, picture } = start(40, 10);
    picture.lines = ['x'.repeat(39), 'y'.repeat(39)];
    terminal.resize(40, 10);
    picture.lines = ['narrow'];
    terminal.resize(15, 10);
    expect(terminal.screen).toEqual(['$ before', 'narrow', '']);
    picture.lines = ['wide again'];
    terminal.resize(60, 20);
    expect(terminal.screen).toEqual(['$ before', 'wide again', '']);
  });

  it('[C2] at the end the last lines replace the picture, and the terminal is restored', () => {
    const { terminal, io, screen } = start();
    screen.stop(['final']);
    expect(terminal.screen).toEqual(['$ before', 'final', '']);
    expect([terminal.cursorShown, terminal.wraps]).toEqual([true, true]);
    expect([io.listeners, io.timers.pending, terminal.listenerCount('resize')]).toEqual([0, 0, 0]);
  });

  it('[C2] nothing is drawn after the end, also if a picture was due when it came', async () => {
    const { terminal, io, screen } = start();
    screen.update();
    // The timer is due, and something else comes first.
    io.timers.nowMs += 2 * limits.frameMsMin;
    screen.update();
    screen.stop(['final']);
    await io.timers.advance(1_000);
    expect([terminal.screen, io.timers.pending]).toEqual([['$ before', 'final', ''], 0]);
  });

  it('[C2] a crash gives the cursor back', () => {
    const { terminal, io } = start();
    io.exit();
    expect([terminal.cursorShown, terminal.wraps]).toEqual([true, true]);
  });

  it('[C2] Ctrl-Z gives the cursor back while the shell has the terminal', async () => {
    const { terminal, io } = start();
    let shown = false;
    io.suspend = () => {
      shown = terminal.cursorShown && terminal.wraps;
      terminal.write('$ fg\r\n');
    };
    io.send('SIGTSTP');
    await io.timers.advance(100);
    expect(shown).toBe(true);
    expect(terminal.cursorShown).toBe(false);
    expect(terminal.screen.slice(-4)).toEqual(['$ fg', 'one', 'two', '']);
  });
});
