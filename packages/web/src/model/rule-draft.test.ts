import { proposeRule } from '@fleetloom/protocol/rules';
import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { findAgentId, toRuleDraft } from './rule-draft.ts';

it('[Z413] the proposed rule is the first words of a simple command, the directory of a file or the exact input; other commands and plans have none', () => {
  const command = (text: string) => proposeRule('bash', { command: text });
  const rows: [string, string | null][] = [
    ['npm test', 'npm test*'],
    ['npm test -- --silent src/a.ts', 'npm test*'],
    ['npm run build:web now', 'npm run*'],
    ['ls', 'ls'],
    ['ls -l', 'ls -l'],
    ['cat src/a.ts', 'cat src/a.ts'],
    ['npm test; rm x', null],
    ['npm "test"', null],
    ['', null],
  ];
  for (const [text, pattern] of rows) {
    expect([text, command(text)]).toEqual([text, pattern === null ? null : { type: 'command', pattern }]);
  }
  const path = (file: string) => proposeRule('Write', { file_path: file });
  expect(path('src/a.ts')).toEqual({ type: 'path', pattern: 'src/*' });
  expect(path('/workspace/src/deep/a.ts')).toEqual({ type: 'path', pattern: 'src/deep/*' });
  expect(path('a.ts')).toEqual({ type: 'path', pattern: 'a.ts' });
  expect(path('/home/user/project/src/a.ts')).toEqual({ type: 'path', pattern: '**/a.ts' });
  expect(proposeRule('web_fetch', { url: 'x' })).toEqual({ type: 'input', input: { url: 'x' } });
  expect(proposeRule('ExitPlanMode', {})).toBeNull();
  const about = { tool: 'bash', input: { command: 'npm test' } };
  expect(toRuleDraft({ ...about, plan: null })?.scope).toBe('session');
  expect(toRuleDraft({ ...about, plan: '# Plan' })).toBeNull();
});

it('[Z413] a rule for an agent is about the agent of the roster that made the call, else about the agent of the session', () => {
  // Only these fields are read.
  const agent = {
    id: 'agent_1',
    name: 'lead',
    multiagent: { type: 'coordinator', agents: [{ id: 'agent_2', name: 'tester' }] },
  } as unknown as SessionAgent;
  expect(['lead', 'tester', 'general-purpose'].map((name) => findAgentId(agent, name))).toEqual([
    'agent_1',
    'agent_2',
    'agent_1',
  ]);
  expect(findAgentId(undefined, 'lead')).toBeUndefined();
});
