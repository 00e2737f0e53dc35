import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { converse, toOptions } from '../suite/conversation.suite.ts';
import { unbegunSuite } from '../suite/ended.suite.ts';
import { type ClaudeCodeOptions, createClaudeCodeEngine } from './claude-code-engine.ts';
import { createManualClock } from '../../../base/clock.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { programLimits } from '../limits.ts';
import { createTreeRemover } from '../../../base/files/remove-tree.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetloom-engine-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that says its version, and otherwise does this. */
function toProgram(name: string, code: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = --version ]; then echo '2.1.325 (Claude Code)'; exit 0; fi\n${code}\n`);
  chmodSync(path, 0o700);
  return path;
}

const noNetwork = {
  findMcpServer: async () => Promise.reject(new Error('there is no network')),
  findHost: async () => Promise.reject(new Error('there is no network')),
};

function createEngine(program: string, changes: Partial<ClaudeCodeOptions> = {}) {
  const environment = { PATH: process.env['PATH'] ?? '' };
  const openNetwork = () => noNetwork;
  const remover = createTreeRemover({ onProblem: () => {} });
  const where = { directory: folder, environment, sandbox: 'none' as const, remover };
  const usual = { program, ...where, openNetwork, upstream: null };
  const engine = createClaudeCodeEngine({ ...usual, ...changes });
  onTestFinished(() => engine.close());
  return engine;
}

describe('a program that is not there', () => {
  unbegunSuite(() => createEngine('/nowhere/claude').open(toOptions(folder)), /no file \/nowhere\/claude.*--claude/);
});

describe('a program that cannot be started where it is wanted', () => {
  const program = toProgram('homeless', 'exit 0');
  unbegunSuite(() => createEngine(program).open(toOptions(join(folder, 'nowhere'))), /cannot be started/);
});

describe('a program that exits without output', () => {
  it('[J13] is an error with its exit code, whichever that is, and with what it complained about', async () => {
    for (const code of [0, 3]) {
      const program = toProgram(`leaves-${code}`, `echo 'I cannot stay.' >&2; exit ${code}`);
      const { next, events } = await converse({ engine: createEngine(program), directory: folder });
      const message = `it ended with exit code ${code}: I cannot stay.`;
      expect(await next('exited')).toEqual({ type: 'exited', key: 'main', message, isWanted: false });
      expect(events).toHaveLength(1);
    }
  });
});

describe('a program that hangs before its first turn', () => {
  it('[J405] is killed 3 s after it is closed as overdue, although it ignores SIGTERM', async () => {
    const { schedule, advance } = createManualSchedule(createManualClock());
    const up = join(folder, 'hangs-is-up');
    const program = toProgram('hangs', `trap '' TERM; touch ${up}; while :; do sleep 1; done`);
    const { program: opened, next } = await converse({
      engine: createEngine(program, { schedule }),
      directory: folder,
    });
    opened.say([{ type: 'text', text: 'Go.' }]);
    await vi.waitFor(() => expect(existsSync(up)).toBe(true), { timeout: 20_000 });
    const closing = opened.close({ isOverdue: true });
    advance(programLimits.programTermMs);
    await closing;
    expect(await next('exited')).toMatchObject({ isWanted: true, message: 'it was ended by SIGKILL' });
    expect(programLimits.programTermMs).toBe(3_000);
  });
});

describe('a program whose requests cannot pass through the gateway', () => {
  it('[J122] begins without it, and the reason is reported', async () => {
    const problems: unknown[] = [];
    const program = toProgram('asks-elsewhere', 'echo "asks ${ANTHROPIC_BASE_URL-itself}" >&2');
    const upstream = { type: 'endpoint', baseURL: 'http://127.0.0.1:9', credential: { apiKey: 'none' } } as const;
    const open = (more: Record<string, string>) => {
      const environment = { PATH: process.env['PATH'] ?? '', ...more };
      const onProblem = (problem: unknown) => void problems.push(problem);
      const passedVariables = Object.keys(more);
      const engine = createEngine(program, { environment, passedVariables, upstream, onProblem });
      return converse({ engine, directory: folder });
    };
    const passing = await open({});
    expect((await passing.next('exited')).message).toMatch(/asks http:\/\/127\.0\.0\.1:\d+/);
    expect(problems).toEqual([]);
    const other = await open({ CLAUDE_CODE_USE_BEDROCK: '1' });
    expect((await other.next('exited')).message).toContain('asks itself');
    expect(problems).toEqual([expect.stringMatching(/Amazon Bedrock.*block by block/)]);
  });
});
