import { describe, expect, it } from 'vitest';
import { assistant, briefs, call, text, thinking, translate } from '../../../../../test/support/lines.ts';
import { createTree, foldEvent } from '../tree.ts';
import { Translator } from '../translator/translator.ts';

const line = (id: string, content: string, uuid: string, fields = {}) =>
  assistant(id, [text(content)], { uuid, ...fields });

describe('lines that are taken back', () => {
  it.each(['supersedes', 'retracted_message_uuids'])(
    '[S51] are reported by %s with the agent and the block',
    (field) => {
      const lines = [
        line('m1', 'wrong', 'u1'),
        line('m2', 'also wrong', 'u2', { parent_tool_use_id: 'toolu_A' }),
        line('m1', 'wrong too', 'u3'),
        line('m3', 'right', 'u4', { [field]: ['u3', 'unknown', 'u2', null, 7, ''] }),
      ];
      expect(briefs(lines).slice(4)).toEqual([
        'main retract m1.1',
        'toolu_A retract m2.0',
        'main text_delta m3.0 right',
      ]);
    },
  );

  it('[S51] are taken back once, and unknown ones are ignored', () => {
    const lines = [
      line('m1', 'wrong', 'u1'),
      line('m2', 'a', 'u2', { supersedes: ['u1'] }),
      line('m2', 'b', 'u3', { supersedes: ['u1', 'u9'] }),
      line('m2', 'c', 'u4', { supersedes: 'u2' }),
    ];
    expect(briefs(lines).filter((each) => each.includes('retract'))).toEqual(['main retract m1.0']);
  });

  it('[S51] are taken back after a snapshot too', () => {
    const before = new Translator();
    before.translate(line('m1', 'wrong', 'u1'));
    const after = Translator.restore(JSON.parse(JSON.stringify(before.snapshot())));
    expect(after.translate(line('m2', 'right', 'u2', { supersedes: ['u1'] }))).toMatchObject([
      { type: 'retract', message_id: 'm1', block: 0, thread: 'main' },
      { type: 'text_delta' },
    ]);
  });

  it('[S51] leave the tree', () => {
    const tree = createTree();
    const lines = [
      assistant('m1', [thinking('hm')], { uuid: 'u0' }),
      line('m1', 'wrong', 'u1'),
      assistant('m1', [call('toolu_1')], { uuid: 'u2' }),
      line('m2', 'right', 'u3', { supersedes: ['u1', 'u2'] }),
    ];
    for (const event of translate(lines)) foldEvent(tree, event);
    expect(tree.threads[0]?.items).toEqual([
      { kind: 'thinking', messageId: 'm1', text: 'hm' },
      { kind: 'text', messageId: 'm2', text: 'right' },
    ]);
  });

  it('[S51] name all blocks of a line that had several', () => {
    const several = assistant('m1', [text('a'), text('b')], { uuid: 'u1' });
    expect(briefs([several, line('m2', 'c', 'u2', { supersedes: ['u1'] })]).slice(2, 4)).toEqual([
      'main retract m1.0',
      'main retract m1.1',
    ]);
  });
});

describe('lines that were cut off', () => {
  it('[S51] stay, and their blocks are marked as aborted', () => {
    expect(briefs([line('m1', 'half a sen', 'u1', { aborted: true })])).toEqual([
      'main text_delta m1.0 half a sen',
      'main block_aborted m1.0',
    ]);
  });
});
