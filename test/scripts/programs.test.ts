import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTree, type Ending, runLines } from './temporary-tree.ts';

/** Replaces npm: records its calls, and creates the package whose name comes last, with the program at this path. */
const npm = (program: string, file = 'claude') => `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const args = process.argv.slice(2);
appendFileSync(join(__dirname, 'calls'), args.at(-1) + '\\n');
const name = args.at(-1).slice(0, args.at(-1).lastIndexOf('@'));
const path = join(args[args.indexOf('--prefix') + 1], 'node_modules', name, ${JSON.stringify(file)});
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, ${JSON.stringify(program)}, { mode: 0o755 });
`;

it('[J125] concurrent callers install the program once, and find it complete', async () => {
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

it('[J125] the lock and files of a killed process do not block the installation', async () => {
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

it.runIf(process.platform === 'linux')(
  '[J125] codex and opencode are installed from their package for this platform only',
  async () => {
    const files = {
      codex: ['0.166.0', `vendor/${process.arch === 'x64' ? 'x86_64' : 'aarch64'}-unknown-linux-musl/bin/codex`],
      opencode: ['1.18.33', 'bin/opencode'],
    } as const;
    for (const [name, [version, file]] of Object.entries(files)) {
      const root = await createTree({ 'npm-cli.js': npm(`#!/bin/sh\necho "${name}-cli ${version}"\n`, file) });
      const path = join(root, '.cache', name, version, file);
      expect(JSON.parse((await ensure(root, version, name)).stdout)).toEqual({ path });
      expect(calls(root)).toEqual([
        expect.stringMatching(/^(@openai\/codex@0\.166\.0-linux-\w+|opencode-linux-\w+(-musl)?@1\.18\.33)$/),
      ]);
    }
  },
);

it('[J126] a failed installation is reported with its reason, and not repeated for a while', async () => {
  const failing =
    "require('node:fs').appendFileSync(__dirname + '/calls', 'x\\n'); console.error('E404 no such thing'); process.exit(1);";
  const root = await createTree({ 'npm-cli.js': failing });
  for (let times = 0; times < 2; times++) {
    const { reason } = JSON.parse((await ensure(root, '2.1.325')).stdout) as { reason: string };
    expect(reason).toContain('npm could not install @anthropic-ai/claude-agent-sdk-');
    expect(reason).toContain('E404 no such thing');
    expect(reason).toContain('Check the network and `npm config get registry`');
  }
  expect(calls(root)).toHaveLength(1);
  expect(existsSync(join(root, '.cache', 'claude-code', '2.1.325'))).toBe(false);
});

it('[J126] a program with another version number is not installed, nor an unknown version', async () => {
  const root = await createTree({ 'npm-cli.js': npm('#!/bin/sh\necho "9.9.9 (Claude Code)"\n') });
  const { reason } = JSON.parse((await ensure(root, '2.1.325')).stdout) as { reason: string };
  expect(reason).toContain('does not answer as claude-code 2.1.325');
  expect(readdirSync(join(root, '.cache', 'claude-code'))).toEqual(['.2.1.325.failed']);
  const unknown = JSON.parse((await ensure(root, '1.0.0')).stdout) as { reason: string };
  expect(unknown.reason).toBe('The versions of claude-code are 2.1.197 and 2.1.325, not 1.0.0.');
});

function ensure(root: string, version: string, name = 'claude-code'): Promise<Ending> {
  const call = `await ensureProgram('${name}', ${JSON.stringify(version)}, ${JSON.stringify(root)})`;
  const lines = `import { ensureProgram } from '$scripts/support/programs.mjs'; console.log(JSON.stringify(${call}));`;
  writeFileSync(join(root, 'package.json'), '{}');
  return runLines(lines, { npm_execpath: join(root, 'npm-cli.js') });
}

function calls(root: string): string[] {
  return readFileSync(join(root, 'calls'), 'utf8').trim().split('\n');
}
