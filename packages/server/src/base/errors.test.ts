import { expect, it } from 'vitest';
import { FleetloomError, type FleetloomErrorFields } from './errors.ts';
import { baseLimits } from './limits.ts';

const archived: FleetloomErrorFields = {
  code: 'agent_archived',
  kind: 'caller',
  problem: 'agent_01 is archived',
  advice: 'create a session with another agent',
};

it('[D5] an error has a code and a kind for programs, and a message with the problem and what to do', () => {
  const error = new FleetloomError(archived);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toBe('FleetloomError: agent_01 is archived: create a session with another agent');
  expect([error.code, error.kind]).toEqual(['agent_archived', 'caller']);
});

it('[D5] an error keeps its cause, and has none if none was passed', () => {
  const cause = new Error('disk full');
  expect(new FleetloomError({ ...archived, cause }).cause).toBe(cause);
  expect(new FleetloomError(archived)).not.toHaveProperty('cause');
});

it('[D6] a message is cut at its limit, and the advice stays whole', () => {
  const room = baseLimits.errorMessageCharsMax - ': do this'.length;
  const message = (length: number) =>
    new FleetloomError({ ...archived, problem: 'x'.repeat(length), advice: 'do this' }).message;
  expect(message(room)).toBe(`${'x'.repeat(room)}: do this`);
  expect(message(room + 1)).toBe(`${'x'.repeat(room - 1)}…: do this`);
  expect(message(10_000_000)).toHaveLength(baseLimits.errorMessageCharsMax);
});

it('[D6] where both are too long, the advice keeps half of the message and the problem the rest', () => {
  const half = baseLimits.errorMessageCharsMax / 2;
  const message = (problem: number, advice: number) =>
    new FleetloomError({ ...archived, problem: 'x'.repeat(problem), advice: 'y'.repeat(advice) }).message;
  expect(baseLimits.errorMessageCharsMax).toBe(1_000);
  expect(message(5_000, 5_000)).toBe(`${'x'.repeat(half - 3)}…: ${'y'.repeat(half - 1)}…`);
  expect(message(5_000, half)).toBe(`${'x'.repeat(half - 3)}…: ${'y'.repeat(half)}`);
  expect(message(5_000, 5_000)).toHaveLength(baseLimits.errorMessageCharsMax);
});
