import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../test-support/fake-io.ts';
import { FakeTerminal } from '../../test-support/fake-terminal.ts';
import { detectLook, drawingWidth } from './look.ts';
import { paintRow, span } from './row.ts';

function look(env: Record<string, string | undefined>, terminal = true) {
  const io = new FakeIo(terminal ? { terminal: new FakeTerminal() } : {});
  Object.assign(io.env, { NO_COLOR: undefined, ...env });
  return detectLook(io);
}

const red = (env: Record<string, string | undefined>, terminal = true) => look(env, terminal).paint('x', 'failed');

describe('detectLook', () => {
  it('[C6] the number of colours is the one that the terminal reports', () => {
    expect(red({ COLORTERM: 'truecolor' })).toBe('\u001b[38;2;213;94;0mx\u001b[0m');
    expect(red({ TERM: 'xterm-256color' })).toBe('\u001b[38;5;166mx\u001b[0m');
    expect(red({ TERM: 'xterm' })).toBe('\u001b[31mx\u001b[0m');
  });

  it('[C6] NO_COLOR, a pipe and TERM=dumb have none', () => {
    expect(red({ NO_COLOR: '1' })).toBe('x');
    expect(red({ NO_COLOR: '' })).not.toBe('x');
    expect(red({}, false)).toBe('x');
    expect(red({ TERM: 'dumb' })).toBe('x');
  });

  it('[C6] FORCE_COLOR decides over all of them', () => {
    expect(red({ FORCE_COLOR: '1', NO_COLOR: '1' }, false)).toBe('\u001b[31mx\u001b[0m');
    expect(red({ FORCE_COLOR: '2' }, false)).toBe('\u001b[38;5;166mx\u001b[0m');
    expect(red({ FORCE_COLOR: '3' }, false)).toContain('38;2');
    expect(red({ FORCE_COLOR: '', TERM: 'xterm' }, false)).toBe('\u001b[31mx\u001b[0m');
    expect(red({ FORCE_COLOR: '0' })).toBe('x');
  });

  it('[C6] the tree is live on a terminal that can move its cursor, and nowhere else', () => {
    expect(look({}).live).toBe(true);
    expect(look({ TERM: 'dumb' }).live).toBe(false);
    expect(look({}, false).live).toBe(false);
  });

  it('[C6] without a UTF-8 locale every sign is ASCII, and so is text of agents', () => {
    const ascii = look({ LANG: 'C' });
    expect(Object.values(ascii.glyphs).flat().join('')).toMatch(/^[ -~]+$/);
    expect(paintRow({ left: [span('naïve 世界')], right: [] }, 80, ascii)).toBe('na?ve ??');
    expect(look({ LANG: 'de_DE.UTF-8' }).unicode).toBe(true);
    expect(look({ LANG: 'C', LC_ALL: 'en_US.utf8' }).unicode).toBe(true);
    expect(look({ LANG: 'en_US.UTF-8', LC_ALL: 'C' }).unicode).toBe(false);
    expect(look({ LANG: undefined }).unicode).toBe(false);
  });

  it('[C16] the last column stays free, and wide screens are not filled', () => {
    expect(drawingWidth(new FakeIo({ terminal: new FakeTerminal(80) }))).toBe(79);
    expect(drawingWidth(new FakeIo({ terminal: new FakeTerminal(300) }))).toBe(110);
    expect(drawingWidth(new FakeIo({ env: { COLUMNS: '61' } }))).toBe(60);
    expect(drawingWidth(new FakeIo())).toBe(100);
    expect(drawingWidth(new FakeIo({ terminal: new FakeTerminal(0, 0) }))).toBe(79);
  });

  it('[C16] a row keeps its right column, and drops it where there is no room', () => {
    const unicode = look({ NO_COLOR: '1' });
    const row = { left: [span('a long sentence that does not fit')], right: [span('1.2s')] };
    expect(paintRow(row, 34, unicode)).toBe('a long sentence that does n…  1.2s');
    expect(paintRow(row, 20, unicode)).toBe('a long sentence tha…');
  });
});
