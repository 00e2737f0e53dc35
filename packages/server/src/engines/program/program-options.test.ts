import { expect, it } from 'vitest';
import { noCapabilities } from './program-capabilities.ts';
import { findForeignOption, findInvalidOption } from './program-options.ts';
import type { ProgramFacts } from './program.ts';
import { findProgramEntry } from './registry.ts';

const facts: ProgramFacts = {
  version: '1',
  isSandboxed: true,
  permissionModes: ['default', 'plan'],
  depths: [1, 2],
  settings: ['none', 'project'],
  controls: [],
  capabilities: noCapabilities,
};
const entry = findProgramEntry('claude-code/')!;
const KEYS = 'claude_code.model, claude_code.permission_mode, claude_code.depth, claude_code.settings';

it('[V144] a key that no program has is invalid and the known keys are listed; a removed key and keys of others are valid', () => {
  expect(findInvalidOption({ 'claude_code.permision_mode': 'plan' }, entry, facts)).toEqual({
    problem: 'metadata.claude_code.permision_mode: is not an option of a program',
    advice: `use one of ${KEYS}, or remove the key`,
  });
  const valid = { 'claude_code.permission_mode': 'plan', 'claude_code.other': null, claude_codex: 'x', other: '' };
  expect(findInvalidOption(valid, entry, facts)).toBe(null);
});

it('[V144] an option without a value is invalid, also one that takes any value', () => {
  for (const key of ['claude_code.model', 'claude_code.depth']) {
    expect(findInvalidOption({ [key]: '' }, entry, facts)).toMatchObject({ problem: `metadata.${key}: is empty` });
  }
});

it('[V144] a session that no program runs has no options', () => {
  expect(findForeignOption({ 'claude_code.model': 'opus' }, ['scripted/echo'])).toEqual({
    problem: 'metadata.claude_code.model: the model of this session is not a program',
    advice: `remove the key, or use a claude-code/… model; its keys are ${KEYS}`,
  });
  expect(findForeignOption({ 'claude_code.model': null, other: 'x' }, ['scripted/echo'])).toBe(null);
});
