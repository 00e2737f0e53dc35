import { createTree } from '@fleetloom/protocol/stream-json/tree';
import { expect, it } from 'vitest';
import { summarize } from './summarize.ts';

it('[G14] the summary counts agents, turns and unreadable lines', () => {
  const tree = createTree();
  tree.turns.push({ open: true });
  expect(summarize('a.ndjson', tree)).toBe('a.ndjson: 1 agent, 1 turn.');
  tree.unreadableLines = 2;
  tree.turns.push({ open: true });
  expect(summarize('a.ndjson', tree)).toBe('a.ndjson: 1 agent, 2 turns, 2 lines could not be read.');
});

it('[G14] the summary of a file that is not a recording states it', () => {
  const tree = createTree();
  expect(summarize('empty.txt', tree)).toBe('empty.txt contains no stream-json.');
  tree.unreadableLines = 1;
  expect(summarize('diary.txt', tree)).toBe('diary.txt contains no stream-json, 1 line could not be read.');
});
