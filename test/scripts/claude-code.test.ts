import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTree, type Ending, runLines } from './temporary-tree.ts';

/** Stands in for npm: notes that it was called, and makes the package whose name comes last. */
const npm = (program: string) => `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const args = process.argv.slice(2);
appendFileSync(join(__dirname, 'calls'), args.at(-1) + '\\n');
const name = args.at(-1).slice(0, args.at(-1).lastIndexOf('@'));
const folder = join(args[args.indexOf('--prefix') + 1], 'node_modules', name);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, process.platform === 'win32' ? 'claude.exe' : 'claude'), ${JSON.stringify(program)}, { mode: 0o755 });
`;

it('[J125] several who ask at once install the program once, and find it whole', async () => {
  const root = await createTree({ 'npm-cli.js': npm('#!/bin/sh\nsleep 0.3; echo "2.1.325 (Claude Code)"\n') });
  const endings = await Promise.all([1, 2, 3].map(() => ensure(root, '2.1.325')));
  const path = join(root, '.cache', 'claude-code', '2.1.325', 'claude');
  expect(endings.map(({ stdout }) => JSON.parse(stdout))).toEqual([{ path }, { path }, { path }]);
  expect(calls(root)).toHaveLength(1);
  expect(calls(root)[0]).toMatch(/^@anthropic-ai\/claude-agent-sdk-\w+-\w+(-musl)?@0\.3\.325$/);
  expect(readdirSync(join(root, '.cache', 'claude-code'))).toEqual(['2.1.325']);
  expect(JSON.parse((await ensure(root, '2.1.325')).stdout)).toEqual({ path });
  expect(calls(root)).toHaveLength(1);
});

it('[J125] what one who died has left behind is in nobody’s way', async () => {
  const root = await createTree({
    'npm-cli.js': npm('#!/bin/sh\necho "2.1.197 (Claude Code)"\n'),
    // No process has this number.
    '.cache/claude-code/.2.1.197.lock': '999999999',
    '.cache/claude-code/.2.1.197-999999999/half': '',
  });
  const path = join(root, '.cache', 'claude-code', '2.1.197', 'claude');
  expect(JSON.parse((await ensure(root, '2.1.197')).stdout)).toEqual({ path });
  expect(readdirSync(join(root, '.cache', 'claude-code'))).toEqual(['2.1.197']);
});

it('[J126] where it cannot be installed the reason is told, and for a while nobody tries again', async () => {
  const failing =
    "require('node:fs').appendFileSync(__dirname + '/calls', 'x\\n'); console.error('E404 no such thing'); process.exit(1);";
  const root = await createTree({ 'npm-cli.js': failing });
  for (let times = 0; times < 2; times++) {
    const { reason } = JSON.parse((await ensure(root, '2.1.325')).stdout) as { reason: string };
    expect(reason).toContain('npm could not install @anthropic-ai/claude-agent-sdk-');
    expect(reason).toContain('E404 no such thing');
  }
  expect(calls(root)).toHaveLength(1);
  expect(existsSync(join(root, '.cache', 'claude-code', '2.1.325'))).toBe(false);
});

it('[J126] a program that does not answer as it should is not installed, nor one that nobody knows', async () => {
  const root = await createTree({ 'npm-cli.js': npm('#!/bin/sh\necho "9.9.9 (Claude Code)"\n') });
  const { reason } = JSON.parse((await ensure(root, '2.1.325')).stdout) as { reason: string };
  expect(reason).toContain('does not answer as claude 2.1.325');
  expect(readdirSync(join(root, '.cache', 'claude-code'))).toEqual(['.2.1.325.failed']);
  const unknown = JSON.parse((await ensure(root, '1.0.0')).stdout) as { reason: string };
  expect(unknown.reason).toBe('The versions are 2.1.197 and 2.1.325, not 1.0.0.');
});

function ensure(root: string, version: string): Promise<Ending> {
  const call = `await ensureClaudeCode(${JSON.stringify(version)}, ${JSON.stringify(root)})`;
  const lines = `import { ensureClaudeCode } from '$scripts/support/claude-code.mjs'; console.log(JSON.stringify(${call}));`;
  writeFileSync(join(root, 'package.json'), '{}');
  return runLines(lines, { npm_execpath: join(root, 'npm-cli.js') });
}

function calls(root: string): string[] {
  return readFileSync(join(root, 'calls'), 'utf8').trim().split('\n');
}
