import { expect, it } from 'vitest';
import { sessionStateAt, sessionStates, stateOfSession, toSessionState } from './session-state.ts';

const facts = { isArchived: false, needsYou: 0, isRunning: false, outcome: null } as const;

it('[V180] a session has one state: archived, then needs you, then running, then how its newest run ended', () => {
  expect(toSessionState(facts)).toBe('idle');
  expect(toSessionState({ ...facts, outcome: 'completed' })).toBe('done');
  expect(toSessionState({ ...facts, outcome: 'cancelled' })).toBe('done');
  expect(toSessionState({ ...facts, outcome: 'failed' })).toBe('failed');
  expect(toSessionState({ ...facts, outcome: 'failed', isRunning: true })).toBe('running');
  expect(toSessionState({ ...facts, outcome: 'running', isRunning: true, needsYou: 1 })).toBe('needs_you');
  expect(toSessionState({ isArchived: true, needsYou: 1, isRunning: true, outcome: 'failed' })).toBe('archived');
});

it('[V180] only a running session becomes stalled, from its time on', () => {
  expect(sessionStateAt('running', 10, 9)).toBe('running');
  expect(sessionStateAt('running', 10, 10)).toBe('stalled');
  expect(sessionStateAt('running', null, 10)).toBe('running');
  expect(sessionStateAt('needs_you', 10, 10)).toBe('needs_you');
  const stallsAt = '2026-01-01T00:00:10.000Z';
  expect(stateOfSession({ state: 'running', stalls_at: stallsAt }, Date.parse(stallsAt))).toBe('stalled');
  // A row that was stalled when it was received, and whose time has moved since.
  expect(stateOfSession({ state: 'stalled', stalls_at: stallsAt }, Date.parse(stallsAt) - 1)).toBe('running');
  expect(stateOfSession({ state: 'done', stalls_at: null }, 0)).toBe('done');
});

it('[V180] all interfaces use these words, in this order', () => {
  const inOrder = Object.values(sessionStates).toSorted((a, b) => a.rank - b.rank);
  expect(inOrder.map(({ label }) => label)).toEqual([
    'needs you',
    'stalled',
    'failed',
    'running',
    'done',
    'idle',
    'archived',
  ]);
});
