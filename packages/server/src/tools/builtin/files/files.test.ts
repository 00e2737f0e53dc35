import {
  chmodSync,
  constants,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolLimits } from '../../limits.ts';
import { createLocks } from '../../locks.ts';
import { findHosts, openBench, runProgram } from '../../toolbox.suite.ts';
import { closing } from '../../workspace/directory.ts';
import { withResolvedPath } from '../../workspace/resolve-path.ts';
import { WorkspaceFiles } from './workspace-files.ts';

describe('read', () => {
  it('[U30] gives the text of a file as it is, by a path from the workspace on or an absolute one', async () => {
    const { run, put, workspace } = openBench();
    put('a/b.txt', '\ufeffone\r\ntwo\n');
    for (const file_path of ['a/b.txt', './a/../a/b.txt', `${workspace}/a/b.txt`]) {
      expect(await run('read', { file_path })).toMatchObject({ text: '\ufeffone\r\ntwo\n', isError: false });
    }
    put('empty', '');
    expect((await run('read', { file_path: 'empty' })).text).toBe('(the file is empty)');
  });

  it('[U31] view_range gives lines counted from 1, both ends included, and to the end with 0 or less', async () => {
    const { run, put } = openBench();
    put('lines', 'one\ntwo\n\nfour\n');
    const range = async (first: number, last: number): Promise<string> => {
      return (await run('read', { file_path: 'lines', view_range: [first, last] })).text;
    };
    expect(await range(1, 1)).toBe('one');
    expect(await range(2, 4)).toBe('two\n\nfour');
    expect(await range(2, 3)).toBe('two\n');
    expect(await range(3, 3)).toBe('(an empty line)');
    expect(await range(2, -1)).toBe('two\n\nfour');
    expect(await range(4, 0)).toBe('four');
    expect(await range(0, 1)).toBe('one');
    expect(await range(3, 99)).toBe('\nfour');
    expect(await range(5, 9)).toBe('read: lines has 4 lines, so there is no line 5');
    expect(await range(3, 2)).toBe('read: view_range ends at line 2, before it begins at 3');
    put('unended', 'a\nb');
    expect((await run('read', { file_path: 'unended', view_range: [2, 2] })).text).toBe('b');
  });

  it('[U31] any lines of any chunks are those that splitting gives', async () => {
    const { run, put } = openBench();
    // Longer than the pieces in which files are read, so that lines are torn.
    const lines = Array.from({ length: 3_000 }, (_, at) => `${at} ${'é'.repeat((at * 7919) % 61)}`);
    put('many', `${lines.join('\n')}\n`);
    for (const [first, last] of [
      [1, 3],
      [900, 1_100],
      [2_999, 3_000],
      [1_234, 1_234],
    ] as const) {
      const { text } = await run('read', { file_path: 'many', view_range: [first, last] });
      expect(text).toBe(lines.slice(first - 1, last).join('\n'));
    }
  });

  it('[U32] a file over 256 KiB is read in parts, and a part has the same limit', async () => {
    const { run, put } = openBench();
    const max = toolLimits.fileReadBytesMax;
    expect(max).toBe(262_144);
    put('full', `${'x'.repeat(99)}\n`.repeat(max / 100 + 1).slice(0, max));
    put('over', `${'x'.repeat(99)}\n`.repeat(max / 100 + 1).slice(0, max + 1));
    const bench = openBench({ limits: { toolTextCharsMax: max } });
    bench.put('full', readFileSync(put('full2', 'x'.repeat(max))));
    expect((await bench.run('read', { file_path: 'full' })).text.length).toBe(max);
    const refused = await run('read', { file_path: 'over' });
    expect(refused.isError).toBe(true);
    expect(refused.text).toBe(
      `read: over has ${max + 1} bytes, and at most ${max} are read at once: read it in parts with view_range, e.g. [1, 500], or search it with grep`,
    );
    expect((await run('read', { file_path: 'over', view_range: [2, 2] })).text).toBe('x'.repeat(99));
    expect((await run('read', { file_path: 'over', view_range: [1, 0] })).text).toContain('ask for fewer');
  });

  it('[U33] a path that is not a text file is refused without waiting: binary, directory, pipe, socket, device, missing', async () => {
    const { run, put, workspace } = openBench();
    put('binary', new Uint8Array([1, 0, 2]));
    put('directory/file', '');
    runProgram('mkfifo', [join(workspace, 'pipe')]);
    const server = createServer().listen(join(workspace, 'socket'));
    const refusals = await Promise.all(
      ['binary', 'directory', 'pipe', 'socket', 'none', 'none/none', 'binary/x', '.'].map(async (file_path) => {
        const { text, isError } = await run('read', { file_path });
        expect(isError).toBe(true);
        return text;
      }),
    );
    server.close();
    expect(refusals).toEqual([
      'read: binary is a binary file: look at it with bash, e.g. with file or xxd',
      'read: directory is a directory: use glob to see what is in it',
      'read: pipe is not a regular file',
      'read: socket is not a regular file',
      'read: none: there is no such file or directory',
      'read: none/none: there is no such file or directory',
      'read: binary/x: a part of the path is not a directory',
      'read: . is a directory: use glob to see what is in it',
    ]);
  });
});

describe('a file without end', () => {
  it('[U123] lines are looked for in the first 128 MiB of a file, and a sparse file of terabytes is refused at once', async () => {
    const { run, workspace } = openBench();
    runProgram('truncate', ['-s', '8T', join(workspace, 'sparse')]);
    expect((await run('read', { file_path: 'sparse' })).text).toContain('has 8796093022208 bytes, and at most 262144');
    expect((await run('read', { file_path: 'sparse', view_range: [2, 3] })).text).toBe(
      'read: lines 2 to 3 of sparse do not end within its first 134217728 bytes, and no more are looked at: ' +
        'use bash, e.g. with tail, sed or dd',
    );
    expect((await run('read', { file_path: 'sparse', view_range: [1, 1] })).text).toContain('ask for fewer');
    expect(toolLimits.fileScanBytesMax).toBe(134_217_728);
  });

  it('[U123] lines that end within the limit are returned, and no later ones', async () => {
    const mebibyte = 1_048_576;
    const { run, put } = openBench({ limits: { fileScanBytesMax: mebibyte } });
    put('file', `${'x'.repeat(mebibyte - 5)}\nfour\nlast`);
    expect((await run('read', { file_path: 'file', view_range: [3, 3] })).text).toContain(
      'do not end within its first',
    );
    put('file', `${'x'.repeat(mebibyte - 6)}\nfour\nlast`);
    expect((await run('read', { file_path: 'file', view_range: [2, 2] })).text).toBe('four');
  });
});

describe('write', () => {
  it('[U34] makes the directories that are missing, replaces as a whole and leaves nothing behind', async () => {
    const { run, workspace } = openBench();
    expect((await run('write', { file_path: 'a/b/c.txt', content: 'é' })).text).toBe('Wrote 2 bytes to a/b/c.txt');
    await run('write', { file_path: 'a/b/c.txt', content: '' });
    expect(readFileSync(join(workspace, 'a/b/c.txt'), 'utf8')).toBe('');
    expect(readdirSync(join(workspace, 'a/b'))).toEqual(['c.txt']);
    const other = join(workspace, 'a/b/linked');
    linkSync(join(workspace, 'a/b/c.txt'), other);
    await run('write', { file_path: 'a/b/c.txt', content: 'new' });
    // A process that had the old file open, or another name of it, still has all of it.
    expect(readFileSync(other, 'utf8')).toBe('');
  });

  it('[U34] a temporary file left by a process that was killed while writing does not prevent the next write', async () => {
    const { run, put, workspace } = openBench();
    // In the sandbox the process of the tools has the same number in every session.
    for (const pid of [process.pid, 2]) for (let at = 0; at < 3; at++) put(`.fleetloom-${pid}-${at}.tmp`, 'left');
    expect((await run('write', { file_path: 'file', content: 'x' })).isError).toBe(false);
    expect(readFileSync(join(workspace, '.fleetloom-2-0.tmp'), 'utf8')).toBe('left');
  });

  it('[U34] keeps the mode of a file', async () => {
    const { run, put } = openBench();
    const file = put('script.sh', 'a');
    chmodSync(file, 0o751);
    await run('write', { file_path: 'script.sh', content: 'b' });
    expect(statSync(file).mode & 0o7777).toBe(0o751);
    await run('edit', { file_path: 'script.sh', old_string: 'b', new_string: 'c' });
    expect(statSync(file).mode & 0o7777).toBe(0o751);
  });

  it('[U126] does not keep the bits that make a program run as another user', async () => {
    const { run, put } = openBench();
    const file = put('program', 'a');
    chmodSync(file, 0o6755);
    await run('edit', { file_path: 'program', old_string: 'a', new_string: 'b' });
    expect(statSync(file).mode & 0o7777).toBe(0o755);
  });

  it('[U33] does not overwrite a path that is not a file', async () => {
    const { run, put, workspace } = openBench();
    put('directory/file', '');
    runProgram('mkfifo', [join(workspace, 'pipe')]);
    for (const file_path of ['directory', 'pipe', '.', 'directory/file/below']) {
      expect((await run('write', { file_path, content: 'x' })).isError).toBe(true);
    }
    expect(readdirSync(workspace).sort()).toEqual(['directory', 'pipe']);
  });
});

describe('edit', () => {
  it('[U35] replaces a text that occurs once, literally, dollar signs included', async () => {
    const { run, put } = openBench();
    const file = put('file', 'a X b');
    const next = "$& $1 $` $' $$";
    expect((await run('edit', { file_path: 'file', old_string: 'X', new_string: next })).text).toBe(
      'Edited file: 1 place',
    );
    expect(readFileSync(file, 'utf8')).toBe(`a ${next} b`);
    await run('edit', { file_path: 'file', old_string: next, new_string: '' });
    expect(readFileSync(file, 'utf8')).toBe('a  b');
  });

  it('[U35] a text that occurs more than once needs replace_all, and one that does not occur is refused', async () => {
    const { run, put } = openBench();
    const file = put('file', 'x.x.x');
    const edit = async (input: { old_string: string; new_string: string; replace_all?: boolean }): Promise<string> => {
      return (await run('edit', { file_path: 'file', ...input })).text;
    };
    expect(await edit({ old_string: 'x', new_string: 'y' })).toContain('old_string is 3 times in file');
    expect(await edit({ old_string: 'z', new_string: 'y' })).toContain('old_string is not in file');
    expect(await edit({ old_string: 'x', new_string: 'x' })).toContain('are the same');
    expect(await edit({ old_string: '', new_string: 'y' })).toContain('old_string: ');
    expect(readFileSync(file, 'utf8')).toBe('x.x.x');
    expect(await edit({ old_string: 'x', new_string: 'yx', replace_all: true })).toBe('Edited file: 3 places');
    expect(readFileSync(file, 'utf8')).toBe('yx.yx.yx');
  });

  it('[U36] a file that is not in UTF-8, or over 8 MiB, is not edited, and its bytes stay', async () => {
    const { run, put } = openBench({ limits: { fileEditBytesMax: 5 } });
    const latin = put('latin', new Uint8Array([0x61, 0xe9]));
    expect((await run('edit', { file_path: 'latin', old_string: 'a', new_string: 'b' })).text).toContain(
      'not a text file in UTF-8',
    );
    expect([...readFileSync(latin)]).toEqual([0x61, 0xe9]);
    put('five', '12345');
    put('six', '123456');
    expect((await run('edit', { file_path: 'six', old_string: '1', new_string: '' })).text).toContain(
      'only 5 can be edited',
    );
    expect((await run('edit', { file_path: 'five', old_string: '1', new_string: '' })).isError).toBe(false);
    expect(toolLimits.fileEditBytesMax).toBe(8_388_608);
  });

  it('[U122] a file has at most 8 MiB after an edit too, which is known before it is made', async () => {
    const { run, put } = openBench({ limits: { fileEditBytesMax: 10 } });
    const file = put('file', 'a.a.a');
    const edit = async (new_string: string): Promise<string> =>
      (await run('edit', { file_path: 'file', old_string: 'a', new_string, replace_all: true })).text;
    expect(await edit('éx')).toBe('edit: file would have 11 bytes, and only 10 can be edited: use bash');
    expect(readFileSync(file, 'utf8')).toBe('a.a.a');
    expect(await edit('é')).toBe('Edited file: 3 places');
    expect(readFileSync(file, 'utf8')).toBe('é.é.é');
  });

  it('[U122] edits that would make gigabytes are refused, and the host with its shells lives on', async () => {
    const { run, put, workspace } = openBench();
    const bytes = toolLimits.fileEditBytesMax;
    put('file', 'a'.repeat(bytes));
    await run('glob', { pattern: '*' });
    const hosts = findHosts(workspace);
    const edits = Array.from({ length: 6 }, () =>
      run('edit', { file_path: 'file', old_string: 'a', new_string: 'x'.repeat(60), replace_all: true }),
    );
    for (const { text } of await Promise.all(edits)) expect(text).toContain(`would have ${60 * bytes} bytes`);
    const good = await run('edit', { file_path: 'file', old_string: 'a', new_string: 'b', replace_all: true });
    expect(good.text).toBe(`Edited file: ${bytes} places`);
    expect(findHosts(workspace)).toEqual(hosts);
  });

  it('[U35] half of a surrogate pair does not match the replacement character', async () => {
    const { run, put } = openBench();
    put('file', 'a\ufffdb');
    expect((await run('edit', { file_path: 'file', old_string: '\ud800', new_string: 'x' })).text).toContain(
      'is not in file',
    );
  });

  it('[U37] agents that edit the same file at once all get their edit in', async () => {
    const { run, put, workspace } = openBench();
    const names = Array.from({ length: 25 }, (_, at) => `<${at}>`);
    const file = put('file', names.join('\n'));
    symlinkSync('file', join(workspace, 'alias'));
    const edits = names.map((name, at) => {
      const file_path = at % 2 === 0 ? 'file' : 'alias';
      return run('edit', { file_path, old_string: name, new_string: `done ${at}` }, { threadId: `sthr_${at}` });
    });
    expect((await Promise.all(edits)).filter(({ isError }) => isError)).toEqual([]);
    expect(readFileSync(file, 'utf8')).toBe(names.map((_, at) => `done ${at}`).join('\n'));
  });
});

describe('the workspace', () => {
  it('[U38] paths that lead out are refused by every tool', async () => {
    const { run, put, workspace, outside } = openBench();
    put('in/file', 'x');
    writeFileSync(join(outside, 'secret'), 'hunter2');
    symlinkSync(outside, join(workspace, 'link'));
    symlinkSync('../outside', join(workspace, 'relative'));
    symlinkSync(join(outside, 'secret'), join(workspace, 'direct'));
    symlinkSync(join(outside, 'new'), join(workspace, 'dangling'));
    symlinkSync('link', join(workspace, 'twice'));
    symlinkSync('/proc/self/root', join(workspace, 'root'));
    const paths = [
      '../outside/secret',
      `${outside}/secret`,
      'in/../../outside/secret',
      '/etc/passwd',
      '/',
      `${workspace}-other`,
      'link/secret',
      'relative/secret',
      'direct',
      'dangling',
      'twice/secret',
      `root${outside}/secret`,
      '..',
    ];
    for (const file_path of paths) {
      const results = [
        await run('read', { file_path }),
        await run('write', { file_path, content: 'x' }),
        await run('edit', { file_path, old_string: 'hunter2', new_string: 'x' }),
        await run('glob', { pattern: '*', path: file_path }),
        await run('grep', { pattern: 'hunter', path: file_path }),
      ];
      for (const { text, isError } of results) {
        expect({ file_path, text, isError }).toEqual({
          file_path,
          text: expect.stringContaining(`${file_path} is outside of the workspace ${workspace}`),
          isError: true,
        });
      }
    }
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('hunter2');
    expect(readdirSync(outside)).toEqual(['secret']);
  });

  it('[U38] a directory is not taken for the workspace because its name begins like it', async () => {
    const { run, workspace } = openBench();
    mkdirSync(`${workspace}-other`);
    writeFileSync(`${workspace}-other/file`, 'x');
    expect((await run('read', { file_path: `${workspace}-other/file` })).isError).toBe(true);
    rmSync(`${workspace}-other`, { recursive: true });
  });

  it('[U39] symbolic links that stay inside are followed, also to files that are not there yet', async () => {
    const { run, put, workspace } = openBench();
    put('real/file', 'content');
    symlinkSync('real', join(workspace, 'alias'));
    symlinkSync(join(workspace, 'real/file'), join(workspace, 'absolute'));
    symlinkSync('../real/../alias/file', join(workspace, 'real/round'));
    symlinkSync('real/new', join(workspace, 'dangling'));
    expect((await run('read', { file_path: 'alias/file' })).text).toBe('content');
    expect((await run('read', { file_path: 'absolute' })).text).toBe('content');
    expect((await run('read', { file_path: 'alias/round' })).text).toBe('content');
    await run('write', { file_path: 'dangling', content: 'made' });
    expect(readFileSync(join(workspace, 'real/new'), 'utf8')).toBe('made');
    await run('write', { file_path: 'absolute', content: 'changed' });
    expect(readFileSync(join(workspace, 'real/file'), 'utf8')).toBe('changed');
  });

  it('[U39] links that go in a circle, or on and on, are refused', async () => {
    const { run, workspace } = openBench();
    symlinkSync('two', join(workspace, 'one'));
    symlinkSync('one', join(workspace, 'two'));
    expect((await run('read', { file_path: 'one' })).text).toContain('more than 40 symbolic links');
    writeFileSync(join(workspace, 'l0'), 'end');
    for (let at = 1; at <= toolLimits.fileLinksMax + 1; at++) symlinkSync(`l${at - 1}`, join(workspace, `l${at}`));
    expect((await run('read', { file_path: `l${toolLimits.fileLinksMax}` })).text).toBe('end');
    expect((await run('read', { file_path: `l${toolLimits.fileLinksMax + 1}` })).isError).toBe(true);
  });

  it('[U38] a process that swaps a directory for a link after it was checked gains nothing', async () => {
    const { put, workspace, outside } = openBench();
    put('swap/file', 'inside');
    writeFileSync(join(outside, 'file'), 'hunter2');
    const seen = await withResolvedPath(workspace, 'swap/file', { linksMax: 40 }, async ({ directory, name }) => {
      renameSync(join(workspace, 'swap'), join(workspace, 'moved'));
      symlinkSync(outside, join(workspace, 'swap'));
      await (await directory.openFile('made', constants.O_WRONLY | constants.O_CREAT)).close();
      const opened = await directory.openFile(name, constants.O_RDONLY);
      return await closing(opened, async (handle) => await handle.readFile('utf8'));
    });
    expect(seen).toBe('inside');
    expect(readdirSync(outside)).toEqual(['file']);
    expect(readdirSync(join(workspace, 'moved'))).toEqual(['file', 'made']);
  });

  it('[U38] a process that swaps a file for a link after it was checked gains nothing', async () => {
    const { put, workspace, outside } = openBench();
    put('file', 'inside');
    writeFileSync(join(outside, 'secret'), 'hunter2');
    const swapped = withResolvedPath(workspace, 'file', { linksMax: 40 }, async ({ directory, name }) => {
      rmSync(join(workspace, 'file'));
      symlinkSync(join(outside, 'secret'), join(workspace, 'file'));
      await directory.openFile(name, constants.O_RDONLY);
    });
    await expect(swapped).rejects.toThrow('file: became a symbolic link in the meantime: try again');
  });

  it('[U38] without held directories links that lead out are refused anyway', async () => {
    const { put, workspace, outside } = openBench();
    put('in/file', 'inside');
    writeFileSync(join(outside, 'file'), 'hunter2');
    symlinkSync(outside, join(workspace, 'link'));
    const files = new WorkspaceFiles({ locks: createLocks(), linksMax: 40, isHeld: false });
    const read = async (path: string): Promise<string> =>
      await files.read(workspace, path, async ({ handle }) => (await handle.readFile()).toString());
    expect(await read('in/file')).toBe('inside');
    await expect(read('link/file')).rejects.toThrow('outside of the workspace');
  });

  it('[U38] a workspace that became a link is not entered', async () => {
    const { run, workspace, outside } = openBench();
    writeFileSync(join(outside, 'file'), 'hunter2');
    renameSync(workspace, `${workspace}-moved`);
    symlinkSync(outside, workspace);
    expect((await run('read', { file_path: 'file' })).isError).toBe(true);
  });

  it('[U2] names that no file can have have a message of their own, different from that of missing files', async () => {
    const { run } = openBench();
    expect((await run('read', { file_path: 'a\0b' })).text).toBe('read: a path cannot have a NUL in it');
    expect((await run('write', { file_path: 'x'.repeat(300), content: '' })).text).toContain('the name is too long');
    expect((await run('read', { file_path: '' })).text).toContain('file_path: ');
    expect((await run('read', { file_path: 'a', view_range: [1] })).text).toContain('view_range: ');
  });
});
