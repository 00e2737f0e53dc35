import { describe, expect, it } from 'vitest';
import { brief } from '../../../../../test/support/lines.ts';
import { recording } from '../../../../../test/support/recordings.ts';
import { StreamTranslator } from './stream-translator.ts';

const OPENING = 'I am going to look carefully at every file in the repository, and then ';

/**
 * Where documented rules of de-duplication lose or repeat content, and what must come out. The rules: one index over all
 * events; an index per `message.id`; an index that restarts when the first 64 characters of the first block change.
 */
describe('where older rules fail', () => {
  it('[S15] two blocks of one message: both index rules lose the answer, since the array is no longer than before', () => {
    expect(said('1-today-two-blocks-one-message')).toEqual([
      'main thinking_delta msg_1.0 plan',
      'main text_delta msg_1.1 The answer.',
    ]);
  });

  it('[S18] two texts of one message that begin alike: all three rules lose the second', () => {
    expect(said('2-today-same-prefix-in-one-message')).toEqual([
      `main text_delta msg_1.0 ${OPENING}start with A.`,
      `main text_delta msg_1.1 ${OPENING}go on with B.`,
    ]);
  });

  it('[S33] two agents whose words begin alike: fingerprint and single index lose the report of the second', () => {
    expect(said('3-today-two-agents-same-prefix')).toEqual([
      'toolu_A thread_start parent unresolved',
      `toolu_A text_delta msg_1.0 ${OPENING}A is fine.`,
      'toolu_B thread_start parent unresolved',
      `toolu_B text_delta msg_2.0 ${OPENING}B is broken!`,
    ]);
  });

  it('[S33] two agents with hidden thinking: for the fingerprint they are one, and it drops the second', () => {
    expect(said('4-today-two-agents-hidden-thinking')).toEqual([
      'toolu_A thread_start parent unresolved',
      'toolu_A thinking_delta msg_1.0 ',
      'toolu_B thread_start parent unresolved',
      'toolu_B thinking_delta msg_2.0 ',
    ]);
  });

  it('[S33] snapshots that return to an agent: the fingerprint repeats its first block', () => {
    expect(said('5-snapshots-return-to-agent')).toEqual([
      'main text_delta .0 A searching',
      'main text_delta .1 B testing',
      'main tool_use .2 toolu_1',
    ]);
  });

  it('[S23] a text that grows past 64 characters: all three rules lose the growth and leave it cut off', () => {
    expect(said('6-snapshots-text-grows-past-64')).toEqual([
      `main text_delta .0 ${OPENING}`,
      'main text_delta .0 report back: 3 bugs.',
    ]);
  });

  it('[S23] a text that grows before 64 characters: the fingerprint gives three texts for one', () => {
    expect(said('7-snapshots-text-grows-before-64')).toEqual([
      'main text_delta .0 Hel',
      'main text_delta .0 lo wor',
      'main text_delta .0 ld.',
    ]);
  });

  it('[S33] two agents with an equal first block: all three rules lose the second call', () => {
    expect(said('8-snapshots-two-agents-same-first-block')).toEqual([
      'main text_delta .0 Searching...',
      'main tool_use .1 toolu_A1',
      'main text_delta .2 Searching...',
      'main tool_use .3 toolu_B1',
    ]);
  });

  it('[S42] deltas and whole lines: a reader of both repeats all text unless the line replaces the deltas', () => {
    expect(said('9-partial-and-whole')).toEqual(['main text_delta msg_1.0 Hel', 'main text_delta msg_1.0 lo.']);
  });
});

function said(name: string): string[] {
  const stream = new StreamTranslator();
  return [...stream.push(recording(`seed-failures/${name}`).bytes()), ...stream.end()].map(brief);
}
