import { expect, it } from 'vitest';
import { FleetloomError, type FleetloomErrorFields } from './errors.ts';
import { limits } from './limits.ts';

const archived: FleetloomErrorFields = {
  code: 'agent_archived',
  kind: 'caller',
  problem: 'agent_01 is archived',
  advice: 'create a session with another agent',
};

it('[D5] an error has a code and a kind for programs, and a message that says what is wrong and what to do', () => {
  const error = new FleetloomError(archived);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toBe('FleetloomError: agent_01 is archived: create a session with another agent');
  expect([error.code, error.kind]).toEqual(['agent_archived', 'caller']);
});

it('[D5] an error keeps its cause, and has none where none was given', () => {
  const cause = new Error('disk full');
  expect(new FleetloomError({ ...archived, cause }).cause).toBe(cause);
  expect(new FleetloomError(archived)).not.toHaveProperty('cause');
});

it('[D6] a message is cut at its limit, and the advice stays whole', () => {
  const room = limits.errorMessageCharsMax - ': do this'.length;
  const message = (length: number) =>
    new FleetloomError({ ...archived, problem: 'x'.repeat(length), advice: 'do this' }).message;
  expect(message(room)).toBe(`${'x'.repeat(room)}: do this`);
  expect(message(room + 1)).toBe(`${'x'.repeat(room - 1)}…: do this`);
  expect(message(10_000_000)).toHaveLength(limits.errorMessageCharsMax);
});

it('[D6] a message is never longer than its limit, however long the advice is', () => {
  const long = 'y'.repeat(5_000);
  expect(new FleetloomError({ ...archived, problem: long, advice: long }).message).toHaveLength(
    limits.errorMessageCharsMax,
  );
});
