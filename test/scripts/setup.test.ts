import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../support/root.ts';
import { createTree, runLines, scripts } from './temporary-tree.ts';

it('[G4] packages are installed when the lock file has changed, and otherwise nothing happens', async () => {
  const root = await createClone();
  const first = await setUp(root);
  expect(first).toMatchObject({ code: 0, stdout: '' });
  expect(first.stderr).toMatch(/^installing packages … \d+\.\d s\n$/);
  expect(await npmCalls(root)).toEqual(['ci --no-audit --no-fund --prefer-offline --include=dev']);
  expect(await setUp(root)).toEqual({ code: 0, stdout: '', stderr: '' });
  await writeFile(join(root, 'package-lock.json'), '{ "packages": { "node_modules/a": { "version": "2.0.0" } } }');
  await setUp(root);
  expect(await npmCalls(root)).toHaveLength(2);
});

it('[G4] a manual installation is accepted, unless it is outdated or for another Node', async () => {
  const root = await createClone({
    'node_modules/.package-lock.json': '{ "packages": { "node_modules/a": { "version": "1.0.0" } } }',
  });
  expect(await setUp(root)).toEqual({ code: 0, stdout: '', stderr: '' });
  const lock = '{ "packages": { "node_modules/a": { "version": "1.0.1" } } }';
  await writeFile(join(root, 'package-lock.json'), lock);
  await writeFile(join(root, 'node_modules/.package-lock.json'), lock);
  expect(await setUp(root)).toEqual({ code: 0, stdout: '', stderr: '' });

  const stampPath = join(root, 'node_modules/.fleetloom-stamp');
  await writeFile(stampPath, (await readFile(stampPath, 'utf8')).replace(/node\d+/, 'node7'));
  await setUp(root);
  expect(await npmCalls(root)).toHaveLength(1);

  const old = await createClone({
    'node_modules/.package-lock.json': '{ "packages": { "node_modules/a": { "version": "0.9.0" } } }',
  });
  await setUp(old);
  expect(await npmCalls(old)).toHaveLength(1);
});

it('[G5] a failed installation shows the end of the output of npm and what to do, and is tried again', async () => {
  const root = await createClone({ 'npm-fails': 'npm error code EAI_AGAIN\nnpm error the reason' });
  const ending = await setUp(root);
  expect(ending).toMatchObject({ code: 1, stdout: '' });
  expect(ending.stderr).toMatch(
    /^installing packages … failed after .*\n\nnpm error code EAI_AGAIN\nnpm error the reason\n\n/,
  );
  expect(ending.stderr).toContain('Check the network');
  await rm(join(root, 'npm-fails'));
  expect(await setUp(root)).toMatchObject({ code: 0 });
});

it('[G5] a Node that is too old is reported before anything else happens', async () => {
  const root = await createClone({ 'package.json': '{ "engines": { "node": ">=99.5" } }' });
  const ending = await setUp(root);
  expect(ending).toMatchObject({ code: 1, stdout: '' });
  expect(ending.stderr).toContain(`Fleetloom needs Node 99.5 or newer; this is Node ${process.versions.node}`);
  expect(await npmCalls(root)).toEqual([]);
});

it('[G6] packages are compiled when a source has changed or an output is missing, and otherwise not', async () => {
  const root = await createPackage();
  const compiled = join(root, 'packages/cli/dist/main.js');
  expect((await setUp(root, { build: true })).stderr).toMatch(/^compiling … \d+\.\d s\n$/);
  expect((await stat(compiled)).mode & 0o111).toBe(0o111);
  expect(existsSync(join(root, 'node_modules/.bin/fleetloom'))).toBe(true);

  // A new time with the same content, as after a checkout, is not a change.
  await utimes(join(root, 'packages/cli/src/main.ts'), new Date(), new Date());
  expect(await setUp(root, { build: true })).toEqual({ code: 0, stdout: '', stderr: '' });

  await rm(compiled);
  await setUp(root, { build: true });
  expect(await readFile(compiled, 'utf8')).toContain('answer = 1');

  await writeFile(join(root, 'packages/cli/src/main.ts'), 'export const answer = 2;');
  await setUp(root, { build: true });
  expect(await readFile(compiled, 'utf8')).toContain('answer = 2');
});

it('[U412] the command of a clone is linked to the bundle that was made of the compiled packages', async () => {
  const link = join(repositoryRoot, 'node_modules/.bin/fleetloom');
  expect(await realpath(link)).toBe(join(await realpath(repositoryRoot), '.cache/program/main.mjs'));
  const { stdout } = await promisify(execFile)(process.execPath, [link, '--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it('[G6] errors of the compiler are shown, and fixing them compiles again', async () => {
  const root = await createPackage();
  await setUp(root, { build: true });
  await writeFile(join(root, 'packages/cli/src/main.ts'), "export const answer: number = 'two';");
  const ending = await setUp(root, { build: true });
  expect(ending).toMatchObject({ code: 1, stdout: '' });
  expect(ending.stderr).toContain('packages/cli/src/main.ts(1,14): error TS2322');
  await writeFile(join(root, 'packages/cli/src/main.ts'), 'export const answer = 1;');
  expect(await setUp(root, { build: true })).toMatchObject({ code: 0 });
  expect(await readFile(join(root, 'packages/cli/dist/main.js'), 'utf8')).toContain('answer = 1');
});

/** A clone in which npm is a small program that records its calls, and fails if the file `npm-fails` exists. */
function createClone(files: Record<string, string> = {}): Promise<string> {
  return createTree({
    'package.json': '{ "engines": { "node": ">=20.19" } }',
    'package-lock.json':
      '{ "packages": { "": {}, "node_modules/a": { "version": "1.0.0" }, "node_modules/a-win32": { "version": "1.0.0", "optional": true } } }',
    'npm-cli.js': [
      "const { appendFileSync, existsSync, mkdirSync, readFileSync } = require('node:fs');",
      "appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');",
      "if (existsSync('npm-fails')) { console.error(readFileSync('npm-fails', 'utf8')); process.exit(1); }",
      "mkdirSync('node_modules', { recursive: true });",
    ].join('\n'),
    ...files,
  });
}

async function createPackage(): Promise<string> {
  const root = await createClone({
    'tsconfig.json': '{ "files": [], "references": [{ "path": "packages/cli" }, { "path": "tsconfig.tests.json" }] }',
    'tsconfig.base.json': '{}',
    'packages/cli/tsconfig.json':
      '{ "compilerOptions": { "composite": true, "rootDir": "src", "outDir": "dist", "tsBuildInfoFile": "dist/.tsbuildinfo", "types": [], "lib": ["ES5"] }, "include": ["src"] }',
    'packages/cli/package.json': '{ "type": "module" }',
    'packages/cli/src/main.ts': 'export const answer = 1;',
  });
  await setUp(root);
  await mkdir(join(root, 'node_modules', '.bin'));
  await symlink(join(scripts, '..', 'node_modules', 'typescript'), join(root, 'node_modules', 'typescript'));
  await symlink(join(root, 'packages', 'cli'), join(root, 'node_modules', 'fleetloom'));
  return root;
}

function setUp(root: string, { build = false } = {}) {
  const call = `await setUp(${JSON.stringify({ build, root })});`;
  return runLines(`import { setUp } from '$scripts/setup.mjs'; ${call}`, { npm_execpath: join(root, 'npm-cli.js') });
}

async function npmCalls(root: string): Promise<string[]> {
  const path = join(root, 'npm-calls');
  return existsSync(path) ? (await readFile(path, 'utf8')).trimEnd().split('\n') : [];
}
