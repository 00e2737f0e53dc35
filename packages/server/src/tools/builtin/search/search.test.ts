import { chmodSync, copyFileSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolLimits } from '../../limits.ts';
import { toToolLimits } from '../../tool-limits.ts';
import type { ToolboxOptions } from '../../registry/create-toolbox.ts';
import { findProgram as findOnPath } from '../../find-program.ts';
import { hasRipgrep, openBench, withoutPrograms } from '../../toolbox.suite.ts';
import { GlobPattern } from '../glob/glob-pattern.ts';

/** Our engine takes seconds for each megabyte of this text: at every byte any of 900 states is possible. */
const SLOW_PATTERN = '[ab]*a[ab]{900}[cd]';
const SLOW_TEXT = `${toNoise(60_000)}\n`.repeat(200);

function toNoise(chars: number): string {
  let state = 1;
  let text = '';
  while (text.length < chars) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    text += (state >> 16) % 2 === 0 ? 'a' : 'b';
  }
  return text;
}

/** Whether a path matches, name by name. */
function matcherOf(pattern: string): (path: string) => boolean {
  const glob = new GlobPattern(pattern, toToolLimits());
  return (path) => {
    const names = path.split('/');
    const last = names.pop()!;
    let places: typeof glob.start | undefined = glob.start;
    for (const name of names) places = places && glob.enter(places, name);
    return places !== undefined && glob.fits(places, last);
  };
}

describe('patterns', () => {
  it.each([
    ['*.ts', ['a.ts', '.ts', '.hidden.ts'], ['a.tsx', 'src/a.ts', 'ts']],
    ['**/*.ts', ['a.ts', 'src/a.ts', 'a/b/c/d.ts', '.a/b.ts'], ['a.js', 'a.ts/b']],
    ['src/**', ['src/a', 'src/a/b'], ['a/src/b', 'src2/a']],
    ['src/**/test/*.ts', ['src/test/a.ts', 'src/a/b/test/c.ts'], ['src/test/a/b.ts', 'test/a.ts']],
    ['**/a/**/b', ['a/b', 'x/a/y/b', 'a/a/b/b'], ['b', 'a/bb']],
    ['**', ['a', 'a/b/c'], []],
    ['a?c', ['abc', 'a€c', 'a👩c'], ['ac', 'abbc', 'a/c']],
    ['[a-c]x[!0-9]', ['axy', 'cxz'], ['dxy', 'ax1', 'ax']],
    ['[]x]', [']', 'x'], ['y']],
    ['[a', ['[a'], ['a']],
    ['*.{js,json}', ['a.js', 'b.json'], ['a.jsx', 'a.{js,json}']],
    ['{a,b{c,d}}/e', ['a/e', 'bc/e', 'bd/e'], ['b/e', 'c/e']],
    ['{single}', ['{single}'], ['single']],
    ['{open,', ['{open,'], ['open']],
    ['a,b}', ['a,b}'], ['a']],
    ['\\*.\\{x,y\\}', ['*.{x,y}'], ['a.x', 'ab']],
    ['./a//b', ['a/b'], ['a']],
    ['a**b', ['ab', 'axxb'], ['a/b']],
    ['*a*b*c*', ['abc', 'xaxbxcx', 'aabbcc'], ['acb', 'ab']],
    ['(a|b)+$', ['(a|b)+$'], ['a', 'aa']],
  ])('[U40] %s', (pattern, fitting, others) => {
    const fits = matcherOf(pattern);
    expect(fitting.filter((path) => !fits(path))).toEqual([]);
    expect(others.filter((path) => fits(path))).toEqual([]);
  });

  it('[U41] a hostile pattern takes no longer than its length times that of the path', () => {
    const begin = performance.now();
    expect(matcherOf(`${'*a'.repeat(300)}b`)('a'.repeat(3_000))).toBe(false);
    expect(matcherOf(`${'**/a/'.repeat(150)}b`)('a/'.repeat(1_500))).toBe(false);
    matcherOf('{'.repeat(1_000));
    matcherOf('{a,'.repeat(300));
    expect(performance.now() - begin).toBeLessThan(2_000);
  });

  it('[U121] all alternatives of braces together have at most 8,192 characters', () => {
    const alternatives = (count: number, chars: number): string =>
      `{${Array.from({ length: count }, () => 'x'.repeat(chars)).join(',')}}`;
    expect(toolLimits.globAlternativesCharsMax).toBe(8_192);
    expect(matcherOf(`${alternatives(16, 12)}${'y'.repeat(500)}`)(`${'x'.repeat(12)}${'y'.repeat(500)}`)).toBe(true);
    expect(() => matcherOf(`${alternatives(16, 12)}${'y'.repeat(501)}`)).toThrow(
      'the pattern stands for patterns of more than 8192 characters: use fewer braces',
    );
  });

  it('[U121] hostile braces on the longest path take less than a second', () => {
    const path = Array.from({ length: 64 }, () => 'a'.repeat(255)).join('/');
    const begin = performance.now();
    for (const pattern of [
      '{**/*a*a*a*a*a*a*ab,**/*a*a*a*a*a*a*a*ac}{1,2}{3,4}{5,6}{7,8}/**/*a*a*ax',
      `{${Array.from({ length: 50 }, (_, at) => `**/*a*a*a*a*${at}`).join(',')}}`,
      `${'**/*a*a*a*b/'.repeat(80)}x`,
    ]) {
      expect(matcherOf(pattern)(path)).toBe(false);
    }
    // A tenth of it when nothing else runs.
    expect(performance.now() - begin).toBeLessThan(3_000);
  });

  it('[U41] braces have at most 256 alternatives', async () => {
    const { run } = openBench();
    expect(toolLimits.globAlternativesMax).toBe(256);
    expect((await run('glob', { pattern: '{a,b}'.repeat(8) })).text).toBe('No files found');
    expect((await run('glob', { pattern: '{a,b}'.repeat(9) })).text).toContain('more than 256 patterns');
    expect((await run('glob', { pattern: 'x'.repeat(toolLimits.globPatternCharsMax) })).isError).toBe(false);
    expect((await run('glob', { pattern: 'x'.repeat(toolLimits.globPatternCharsMax + 1) })).isError).toBe(true);
  });
});

describe('glob', () => {
  it('[U42] gives files, the newest first, with paths from the workspace on, and skips .git and node_modules', async () => {
    const { run, put, workspace, outside } = openBench();
    const names = [
      'old.ts',
      'src/new.ts',
      'src/deep/er/middle.ts',
      '.git/x.ts',
      'node_modules/a/x.ts',
      'src/node_modules/x.ts',
    ];
    for (const name of names) put(name, '');
    put('.fleetloom/outputs/x.ts', '');
    put('other.js', '');
    mkdirSync(join(workspace, 'directory.ts'));
    writeFileSync(join(outside, 'secret.ts'), '');
    symlinkSync(outside, join(workspace, 'out'));
    symlinkSync('old.ts', join(workspace, 'link.ts'));
    utimesSync(join(workspace, 'old.ts'), 1_000, 1_000);
    utimesSync(join(workspace, 'src/deep/er/middle.ts'), 2_000, 2_000);
    utimesSync(join(workspace, 'src/new.ts'), 3_000, 3_000);
    expect((await run('glob', { pattern: '**/*.ts' })).text).toBe('src/new.ts\nsrc/deep/er/middle.ts\nold.ts');
    expect((await run('glob', { pattern: '*.ts', path: 'src' })).text).toBe('src/new.ts');
    expect((await run('glob', { pattern: '**/*.ts', path: `${workspace}/src/deep` })).text).toBe(
      'src/deep/er/middle.ts',
    );
    expect((await run('glob', { pattern: '*.ts', path: 'node_modules/a' })).text).toBe('node_modules/a/x.ts');
    expect(await run('glob', { pattern: '*.py' })).toMatchObject({ text: 'No files found', isError: false });
  });

  it('[U42] at most 200 files are returned, with the number of omitted ones', async () => {
    const { run, put, workspace } = openBench();
    for (let at = 0; at < toolLimits.globResultsMax + 3; at++) {
      put(`f${at}`, '');
      utimesSync(join(workspace, `f${at}`), at + 1, at + 1);
    }
    const lines = (await run('glob', { pattern: 'f*' })).text.split('\n');
    expect(toolLimits.globResultsMax).toBe(200);
    expect(lines.slice(0, 2)).toEqual(['f202', 'f201']);
    expect(lines.slice(199)).toEqual(['f3', '(3 older files are left out: use a narrower pattern)']);
    expect((await run('glob', { pattern: 'f1*' })).text).not.toContain('left out');
  });

  it('[U43] a search ends after a limited number of entries or levels, and states it', async () => {
    const { put, run } = openBench({ limits: { walkEntriesMax: 5, walkDepthMax: 2 } });
    for (const name of ['a', 'b', 'c', 'd', 'e']) put(name, '');
    expect((await run('glob', { pattern: '*' })).text.split('\n').length).toBe(5);
    put('f', '');
    expect((await run('glob', { pattern: '*' })).text).toContain(
      '(there is too much to look at everything: give a path)',
    );
    const deep = openBench({ limits: { walkDepthMax: 2 } });
    deep.put('1/2/file', '');
    expect((await deep.run('glob', { pattern: '**' })).text).toBe('1/2/file');
    deep.put('1/2/3/file', '');
    expect((await deep.run('glob', { pattern: '**' })).text).toBe(
      '1/2/file\n(there is too much to look at everything: give a path)',
    );
    expect([toolLimits.walkEntriesMax, toolLimits.walkDepthMax]).toEqual([100_000, 64]);
  });

  it('[U121] a search by name ends after 30 s, and gives at most 100 KiB', async () => {
    const late = openBench({ limits: { globTimeoutMs: 1 } });
    for (let at = 0; at < 2_000; at++) late.put(`${'a'.repeat(200)}${at}`, '');
    const stopped = await late.run('glob', { pattern: '{*a*a*a*ab,*a*a*a*ac}{1,2}{3,4}{5,6}' });
    expect(stopped.text).toBe('No files found\n(stopped after 1 ms: give a path, or a simpler pattern)');
    const small = openBench({ limits: { globOutputBytesMax: 10 } });
    for (const name of ['1234', '5678', 'x']) small.put(name, '');
    expect((await small.run('glob', { pattern: '[0-9]*' })).text.split('\n').sort()).toEqual(['1234', '5678']);
    expect((await small.run('glob', { pattern: '*' })).text).toContain('(1 older files are left out');
    expect([toolLimits.globTimeoutMs, toolLimits.globOutputBytesMax]).toEqual([30_000, 102_400]);
  });

  it('[U2] patterns that lead out are refused', async () => {
    const { run, put } = openBench();
    put('file', '');
    expect((await run('glob', { pattern: '/etc/*' })).text).toContain('the pattern is absolute');
    expect((await run('glob', { pattern: '../*' })).text).toContain('cannot have ..');
    expect((await run('glob', { pattern: '{a,..}/*' })).text).toContain('cannot have ..');
    expect((await run('glob', { pattern: '*', path: 'file' })).text).toBe(
      'glob: file is a file: give a directory as path',
    );
    expect((await run('glob', { pattern: '*', path: 'none' })).text).toBe(
      'glob: none: there is no such file or directory',
    );
  });
});

const ways: [string, ToolboxOptions, boolean][] = [
  ['by ripgrep in the sandbox', {}, !hasRipgrep],
  ['by ripgrep without a sandbox', { findProgram: withoutPrograms('bwrap') }, !hasRipgrep],
  ['by ourselves', { findProgram: withoutPrograms('rg') }, false],
];

describe.each(ways)('grep %s', (_name, options, isLeftOut) => {
  it.skipIf(isLeftOut)('[U44] gives path, number and line, in the order of paths', async () => {
    const { run, put, workspace, outside } = openBench(options);
    put('b.txt', 'nothing\nneedle here\n');
    put('a/z.txt', 'x needle\r\nno\nneedles');
    put('a/é ü.txt', 'a\n\nneedle');
    put('.hidden/file', 'needle');
    put('.gitignore', 'b.txt\n');
    for (const skipped of ['.git/x', 'node_modules/x', 'a/node_modules/x', '.fleetloom/outputs/x'])
      put(skipped, 'needle');
    put('binary', new Uint8Array([...Buffer.from('needle\n'), 0, 1]));
    writeFileSync(join(outside, 'secret'), 'needle');
    symlinkSync(outside, join(workspace, 'out'));
    symlinkSync(join(outside, 'secret'), join(workspace, 'direct'));
    const found = await run('grep', { pattern: 'need(le|ful)' });
    expect(found.isError).toBe(false);
    expect(found.text.replaceAll('\r', '').split('\n')).toEqual([
      '.hidden/file:1:needle',
      'a/z.txt:1:x needle',
      'a/z.txt:3:needles',
      'a/é ü.txt:3:needle',
      'b.txt:2:needle here',
    ]);
    expect((await run('grep', { pattern: 'needle', path: 'a' })).text).toContain('a/z.txt:1:x needle');
    expect((await run('grep', { pattern: 'needle', path: 'b.txt' })).text).toBe('b.txt:2:needle here');
    expect((await run('grep', { pattern: '^needle$', path: `${workspace}/.hidden` })).text).toBe(
      '.hidden/file:1:needle',
    );
    expect((await run('grep', { pattern: 'needle', path: '.fleetloom/outputs/x' })).text).toBe(
      '.fleetloom/outputs/x:1:needle',
    );
    expect(await run('grep', { pattern: 'haystack' })).toMatchObject({ text: 'No matches found', isError: false });
  });

  it.skipIf(isLeftOut)('[U44] patterns and paths that look like options are none', async () => {
    const { run, put } = openBench(options);
    put('-v', '--files\n');
    expect((await run('grep', { pattern: '--files' })).text).toBe('-v:1:--files');
    expect((await run('grep', { pattern: '--files', path: '-v' })).text).toBe('-v:1:--files');
  });

  it.skipIf(isLeftOut)(
    '[U45] the output is cut after 100 KiB at the end of a line, and long lines are cut',
    async () => {
      const small = openBench({ ...options, limits: { grepOutputBytesMax: 30, grepLineCharsMax: 12 } });
      // Each line has ten bytes with its end.
      small.put('f', 'match-0\nmatch-1\n'.replaceAll('match', 'abc'));
      expect((await small.run('grep', { pattern: 'abc' })).text).toBe('f:1:abc-0\nf:2:abc-1');
      small.put('f', 'abc-0\nabc-1\nabc-2\nabc-3\n');
      expect((await small.run('grep', { pattern: 'abc' })).text).toBe(
        'f:1:abc-0\nf:2:abc-1\nf:3:abc-2\n(cut after 30 bytes: use a narrower pattern or path)',
      );
      const long = openBench({ ...options, limits: { grepLineCharsMax: 12 } });
      // Ripgrep counts the end of a line too, so the edge is between these.
      long.put('f', `${'x'.repeat(11)}\n${'y'.repeat(13)}\n`);
      expect((await long.run('grep', { pattern: 'x|y' })).text).toBe(
        `f:1:${'x'.repeat(11)}\nf:2:${'y'.repeat(12)} [... omitted end of long line]`,
      );
      expect([toolLimits.grepOutputBytesMax, toolLimits.grepLineCharsMax]).toEqual([102_400, 2_000]);
    },
  );

  it.skipIf(isLeftOut)('[U2] an invalid pattern is explained', async () => {
    const { run, put } = openBench(options);
    put('f', 'x');
    const refused = await run('grep', { pattern: 'a(' });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('grep: the pattern cannot be used: ');
    expect((await run('grep', { pattern: 'x', path: 'none' })).text).toBe(
      'grep: none: there is no such file or directory',
    );
  });

  it.skipIf(isLeftOut)('[U20] an interrupt ends a search', async () => {
    // Stands for a ripgrep that takes forever; the expression takes long for our own search.
    const program = '#!/bin/sh\nsleep 1000\n';
    let slow: string | undefined;
    const findProgram = async (name: string): Promise<string | undefined> => {
      return name === 'rg' && slow !== undefined ? slow : await (options.findProgram ?? findOnPath)(name);
    };
    const { run, put } = openBench({ findProgram });
    put('f', SLOW_TEXT);
    slow = (await findProgram('rg')) === undefined ? undefined : put('slow', program);
    if (slow !== undefined) chmodSync(slow, 0o755);
    const stop = new AbortController();
    const search = run('grep', { pattern: SLOW_PATTERN, path: 'f' }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 300);
    expect(await search).toMatchObject({ text: 'grep: interrupted before it was done', isError: true });
  });

  it.skipIf(isLeftOut)('[U46] a search that takes too long ends, and states it', async () => {
    let slow: string | undefined;
    const findProgram = async (name: string): Promise<string | undefined> => {
      return name === 'rg' && slow !== undefined ? slow : await (options.findProgram ?? findOnPath)(name);
    };
    const { run, put } = openBench({ findProgram, limits: { grepTimeoutMs: 300 } });
    put('f', SLOW_TEXT);
    slow = (await findProgram('rg')) === undefined ? undefined : put('slow', '#!/bin/sh\nsleep 1000\n');
    if (slow !== undefined) chmodSync(slow, 0o755);
    expect((await run('grep', { pattern: SLOW_PATTERN, path: 'f' })).text).toContain(
      '(stopped after 300 ms: give a path',
    );
    expect(toolLimits.grepTimeoutMs).toBe(30_000);
  });
});

describe('a ripgrep that does not run', () => {
  it.each([
    ['is not a program', 'not a program'],
    ['breaks', '#!/bin/sh\necho broken >&2; exit 1\n'],
  ])('[U44] is not taken for one that finds nothing: it %s', async (_what, content) => {
    let broken = '';
    const findProgram = async (name: string): Promise<string | undefined> =>
      name === 'rg' ? broken : await findOnPath(name);
    const { run, put } = openBench({ findProgram });
    put('f', 'needle');
    broken = put('.git/rg', content);
    chmodSync(broken, 0o755);
    expect((await run('grep', { pattern: 'needle' })).text).toBe('f:1:needle');
  });

  it('[U125] is not taken for one that finds nothing when it is killed', async () => {
    let killed = '';
    const findProgram = async (name: string): Promise<string | undefined> =>
      name === 'rg' ? killed : await findOnPath(name);
    const { run, put } = openBench({ findProgram });
    put('f', 'needle');
    killed = put('.git/rg', '#!/bin/sh\nkill -9 $$\n');
    chmodSync(killed, 0o755);
    expect((await run('grep', { pattern: 'needle' })).text).toBe('f:1:needle');
  });

  it.skipIf(!hasRipgrep)('[U44] one that is installed beside the system is let into the sandbox', async () => {
    const helper = openBench();
    const copy = join(helper.outside, 'rg');
    copyFileSync((await findOnPath('rg')) ?? '', copy);
    const { run, put } = openBench({ findProgram: async (name) => (name === 'rg' ? copy : await findOnPath(name)) });
    put('f', 'needle');
    // Only ripgrep has this flag, which makes spaces mean nothing.
    expect((await run('grep', { pattern: '(?x) need le' })).text).toBe('f:1:needle');
  });
});

describe.each(ways)('a hostile grep %s', (_name, options, isLeftOut) => {
  it.skipIf(isLeftOut)(
    '[U124] an expression that backtracks without end elsewhere takes no time on a line of 15 MB',
    async () => {
      const { run, put } = openBench(options);
      put('long', `${'ab'.repeat(7_500_000)}\n`);
      put('short', 'abc\n');
      const { text, isError } = await run('grep', { pattern: '^(?:a|b|ab)*c' });
      expect({ first: text.split('\n')[0], isError }).toEqual({ first: 'short:1:abc', isError: false });
    },
  );

  it.skipIf(isLeftOut)('[U124] an expression has at most 4,000 characters', async () => {
    const { run, put } = openBench(options);
    put('f', 'x'.repeat(toolLimits.grepPatternCharsMax));
    expect(toolLimits.grepPatternCharsMax).toBe(4_000);
    expect((await run('grep', { pattern: 'x'.repeat(4_000) })).isError).toBe(false);
    expect((await run('grep', { pattern: 'x'.repeat(4_001) })).text).toContain(
      'grep: the input does not fit: pattern: ',
    );
  });
});

describe('grep by ourselves', () => {
  it('[U124] knows no expressions that need to backtrack, and states it', async () => {
    const { run, put } = openBench({ findProgram: withoutPrograms('rg') });
    put('f', 'aa');
    for (const pattern of ['(a)\\1', '(?=a)a', '(?:a{1000}){1000}']) {
      expect((await run('grep', { pattern })).text).toContain('grep: the pattern cannot be used: invalid ');
    }
  });

  it('[U124] searches the first 64 KiB of a line, and reports how many lines are longer', async () => {
    const { run, put } = openBench({ findProgram: withoutPrograms('rg'), limits: { grepMatchBytesMax: 10 } });
    put('f', `${'x'.repeat(9)}y\n${'x'.repeat(10)}y\n${'x'.repeat(1_000_000)}y\ny`);
    expect((await run('grep', { pattern: 'y' })).text).toBe(
      `f:1:${'x'.repeat(9)}y\nf:4:y\n(2 lines over 10 bytes were searched up to there)`,
    );
    expect(toolLimits.grepMatchBytesMax).toBe(65_536);
  });

  it('[U44] a line is found wherever the pieces end in which its file is read', async () => {
    const { run, put } = openBench({ findProgram: withoutPrograms('rg') });
    // Longer than two pieces, so that lines and characters are torn.
    const lines = Array.from({ length: 5_000 }, (_, at) => `${at} ${'é'.repeat(at % 31)}`);
    put('f', `\ufeff${lines.join('\r\n')}`);
    const wanted = [0, 1, 1_600, 2_713, 2_714, 3_500, 4_999];
    const { text } = await run('grep', { pattern: `^(?:${wanted.join('|')}) é*$` });
    expect(text.split('\n')).toEqual(wanted.map((at) => `f:${at + 1}:${lines[at]}`));
  });

  it('[U46] an expression that takes long is stopped and does not delay other calls', async () => {
    const { run, put } = openBench({ findProgram: withoutPrograms('rg'), limits: { grepTimeoutMs: 500 } });
    put('a', 'found a!\n');
    put('b', SLOW_TEXT);
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 10);
    const { text } = await run('grep', { pattern: `found|${SLOW_PATTERN}` });
    clearInterval(ticking);
    expect(text).toBe('a:1:found a!\n(stopped after 500 ms: give a path, or a simpler pattern)');
    expect(ticks).toBeGreaterThan(10);
  });

  it('[U45] files over 16 MiB are not searched, and their number is reported', async () => {
    const { run, put } = openBench({ findProgram: withoutPrograms('rg'), limits: { grepFileBytesMax: 10 } });
    put('ten', 'needle 789');
    put('more', 'needle 7890');
    expect((await run('grep', { pattern: 'needle' })).text).toBe(
      'ten:1:needle 789\n(1 files over 10 bytes were not searched)',
    );
    expect(toolLimits.grepFileBytesMax).toBe(16 * 1024 * 1024);
  });
});
