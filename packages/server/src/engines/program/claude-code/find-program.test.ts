import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compareVersions } from '../launch/compare-versions.ts';
import { capabilitiesOf, OLDEST_VERSION } from './capabilities.ts';
import { findClaudeProgram } from './find-program.ts';

describe('the program', () => {
  it('[J130] is found on PATH, in its order, or at a given path', async () => {
    const folder = await temporaryFolder();
    const first = await writeProgram(join(folder, 'a'), 'claude', 'echo "2.1.200 (Claude Code)"');
    const second = await writeProgram(join(folder, 'b'), 'claude', 'echo "2.1.325 (Claude Code)"');
    const environment = {
      PATH: ['relative', join(folder, 'none'), join(folder, 'a'), join(folder, 'b')].join(delimiter),
    };
    const found = await findClaudeProgram({ environment });
    expect(found).toMatchObject({ type: 'found', program: { path: first, version: '2.1.200' } });
    const named = await findClaudeProgram({ environment, program: second });
    expect(named).toMatchObject({ type: 'found', program: { path: second, version: '2.1.325' } });
    await writeProgram(join(folder, 'a'), 'claude-beta', 'echo "2.2.0-beta.1 (Claude Code)"');
    const beta = await findClaudeProgram({ environment, program: 'claude-beta' });
    expect(beta).toMatchObject({ type: 'found', program: { version: '2.2.0-beta.1' } });
  });

  it('[J131] that is not on PATH, or not at the given path, is a problem with advice', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'claude'));
    const environment = { PATH: folder };
    expect(await findClaudeProgram({ environment })).toMatchObject({
      type: 'problem',
      problem: {
        reason: 'not_found',
        path: null,
        problem: 'no claude on PATH',
        advice: expect.stringContaining('--claude'),
      },
    });
    const path = join(folder, 'missing');
    expect(await findClaudeProgram({ environment, program: path })).toMatchObject({
      problem: { reason: 'not_found', path, problem: `there is no file ${path}` },
    });
  });

  it('[J131] that may not be run is a problem, unless PATH has another one', async () => {
    const folder = await temporaryFolder();
    const path = await writeProgram(join(folder, 'a'), 'claude', 'echo');
    await chmod(path, 0o644);
    const environment = { PATH: join(folder, 'a') };
    expect(await findClaudeProgram({ environment })).toMatchObject({ problem: { reason: 'not_executable', path } });
    await writeProgram(join(folder, 'b'), 'claude', 'echo "2.1.325 (Claude Code)"');
    const both = { PATH: [join(folder, 'a'), join(folder, 'b')].join(delimiter) };
    expect(await findClaudeProgram({ environment: both })).toMatchObject({ type: 'found' });
  });

  it('[J132] that does not answer in time is a problem, and is not left running', async () => {
    const folder = await temporaryFolder();
    const path = await writeProgram(folder, 'claude', `echo $$ > "${folder}/pid"; exec sleep 600`);
    const found = await findClaudeProgram({
      program: path,
      environment: { PATH: process.env['PATH'] },
      answerMs: 1_000,
    });
    expect(found).toMatchObject({
      problem: { reason: 'no_answer', problem: `${path} did not print its version within 1 s` },
    });
    const { readFile } = await import('node:fs/promises');
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it.each([
    ['echo "no such library" >&2; exit 127', 'no_answer', 'cannot be run: no such library'],
    ['echo "GNU claude 9.9.9"', 'not_claude', '--version prints "GNU claude 9.9.9"'],
    ['true', 'not_claude', '--version prints nothing'],
    ['yes', 'no_answer', 'cannot be run'],
    ['echo "2.1.196 (Claude Code)"', 'too_old', 'is Claude Code 2.1.196, and 2.1.197 or newer is needed'],
  ])('[J133] that does not run as Claude Code is a problem with its cause: %s', async (script, reason, words) => {
    const path = await writeProgram(await temporaryFolder(), 'claude', script);
    const found = await findClaudeProgram({ program: path, environment: { PATH: process.env['PATH'] } });
    expect(found).toMatchObject({
      type: 'problem',
      problem: { reason, path, problem: expect.stringContaining(words) },
    });
  });
});

describe('what it supports', () => {
  it('[J134] depends on its version: what was never seen in a release is not assumed of it', () => {
    const old = capabilitiesOf(OLDEST_VERSION);
    const recent = capabilitiesOf('2.1.325');
    expect(old).toMatchObject({
      forwardsSubagentText: true,
      forwardsNestedText: false,
      hasForwardFlag: false,
      sparesBackgroundAgents: false,
      namesAgentOnLines: false,
      spawnDepthMax: 5,
      canLimitSpawnDepth: false,
      subagentsMax: null,
    });
    expect(recent).toMatchObject({
      forwardsNestedText: true,
      hasForwardFlag: true,
      sparesBackgroundAgents: true,
      namesAgentOnLines: true,
      spawnDepthMax: 3,
      canLimitSpawnDepth: true,
      subagentsMax: 20,
    });
    expect(capabilitiesOf('2.1.324')).toEqual(old);
    expect(capabilitiesOf('2.2.0')).toEqual(recent);
  });

  it('[J134] capabilities that the program reports win over those of its version', () => {
    const announced = capabilitiesOf('2.1.300', ['msg_lifecycle_v1', 'interrupt_receipt_v1', 'unheard_of_v9']);
    expect(announced).toEqual({
      ...capabilitiesOf('2.1.300'),
      reportsPromptLifecycle: true,
      reportsQueuedAfterInterrupt: true,
    });
  });

  it('[J134] versions are compared number by number', () => {
    const sorted = ['2.1.1000', '10.0.0', '2.1.99', '2.1.325-beta.2', '2.2.0', 'none'].sort(compareVersions);
    expect(sorted).toEqual(['none', '2.1.99', '2.1.325-beta.2', '2.1.1000', '2.2.0', '10.0.0']);
    expect(compareVersions('2.1.325', '2.1.325-beta.2')).toBe(0);
  });
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-find-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function writeProgram(folder: string, name: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}
