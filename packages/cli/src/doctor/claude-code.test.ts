import type { Capabilities, FoundProgram } from '@fleetloom/server';
import { expect, it } from 'vitest';
import { describeClaudeCode } from './claude-code.ts';

const path = '/usr/bin/claude';

function found(version: string, isNew: boolean): FoundProgram {
  const supports: Capabilities = {
    forwardsSubagentText: true,
    forwardsNestedText: isNew,
    hasForwardFlag: isNew,
    sparesBackgroundAgents: isNew,
    namesAgentOnLines: isNew,
    reportsPromptLifecycle: isNew,
    reportsQueuedAfterInterrupt: isNew,
    asksAfterCall: isNew,
    reportsPendingRequests: isNew,
    startsInBackground: isNew,
    costGoesOnAfterResume: isNew,
    spawnDepthMax: isNew ? 3 : 5,
    canLimitSpawnDepth: isNew,
    permissionModes: ['default'],
    subagentsMax: isNew ? 20 : null,
    drainsAtExit: isNew,
    controls: isNew ? ['usage', 'diff', 'rewind'] : ['usage', 'rewind'],
  };
  return { type: 'found', program: { path, version, supports } };
}

it('[J135] a program with every feature is reported with version and path', () => {
  expect(describeClaudeCode(found('2.1.325', true), undefined)).toEqual([
    { name: 'Claude Code', state: 'ok', text: `2.1.325 (${path}): sessions on claude-code/default run on it` },
    {
      name: 'Claude Code',
      state: 'ok',
      text: expect.stringMatching(/^2\.1\.325 supports: live text .*; text of sub-agents; /),
    },
  ]);
});

it('[J135] missing features of a release, and why text is not streamed, are notes with what to do', () => {
  const findings = describeClaudeCode(found('2.1.197', false), 'the program talks to Amazon Bedrock (X is set)');
  expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok', 'note', 'note']);
  expect(findings[1]?.text).not.toContain('live text');
  expect(findings[1]?.text).not.toContain('nested sub-agents');
  expect(findings[2]?.text).toContain('2.1.197 lacks: text of nested sub-agents');
  expect(findings[2]?.fix).toBe('Update Claude Code: claude update.');
  expect(findings[3]?.text).toBe('the program talks to Amazon Bedrock (X is set)');
  expect(findings[3]?.fix).toBeDefined();
});

it('[J135] no program at all is a note, one that does not work is a problem', () => {
  const missing = { reason: 'not_found', path: null, problem: 'no claude on PATH', advice: 'install it' } as const;
  expect(describeClaudeCode({ type: 'problem', problem: missing }, undefined)).toEqual([
    {
      name: 'Claude Code',
      state: 'note',
      text: 'no claude on PATH: models such as claude-code/default are not available',
      fix: 'Install it.',
    },
  ]);
  const old = { reason: 'too_old', path, problem: 'it is too old', advice: 'update it' } as const;
  expect(describeClaudeCode({ type: 'problem', problem: old }, undefined)).toEqual([
    { name: 'Claude Code', state: 'problem', text: 'it is too old', fix: 'Update it.' },
  ]);
});
