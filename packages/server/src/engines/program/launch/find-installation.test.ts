import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findInstallation } from './find-installation.ts';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-installation-')));
afterAll(() => rmSync(home, { recursive: true, force: true }));

function put(...names: string[]): string {
  const path = join(home, ...names);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  return path;
}

it('[J215] a native program is its file, behind all links, whatever stands beside and above it', () => {
  put('package.json');
  const file = put('.local', 'share', 'claude', 'versions', '2.1.325');
  mkdirSync(join(home, '.local', 'bin'));
  symlinkSync(file, join(home, '.local', 'bin', 'claude'));
  expect(findInstallation(join(home, '.local', 'bin', 'claude'))).toEqual({ program: file, paths: [file] });
});

it('[J215] one from npm is the packages of its owner, which have its other parts', () => {
  const script = put('lib', 'node_modules', '@anthropic-ai', 'claude-code', 'cli.js');
  put('lib', 'node_modules', '@anthropic-ai', 'claude-code-linux-x64', 'claude');
  put('lib', 'node_modules', 'other', 'secret');
  symlinkSync(script, join(home, 'claude-by-npm'));
  const packages = join(home, 'lib', 'node_modules', '@anthropic-ai');
  expect(findInstallation(join(home, 'claude-by-npm'))).toEqual({ program: script, paths: [script, packages] });
  const plain = put('lib', 'node_modules', 'claude-fork', 'bin', 'claude');
  expect(findInstallation(plain).paths).toEqual([plain, join(home, 'lib', 'node_modules', 'claude-fork')]);
});

it('[J215] a launcher with packages of its own beside it has those', () => {
  const launcher = put('.claude', 'local', 'claude');
  put('.claude', 'local', 'node_modules', '.bin', 'claude');
  put('.claude', 'history.jsonl');
  const beside = join(home, '.claude', 'local', 'node_modules');
  expect(findInstallation(launcher)).toEqual({ program: launcher, paths: [launcher, beside] });
});
