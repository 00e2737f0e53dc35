import { describe, expect, it } from 'vitest';
import { assistant, call, toolResult, translate } from '../../../../../test/support/lines.ts';

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };

describe('tool results', () => {
  it.each([
    ['a string', 'file contents here', 'file contents here'],
    [
      'text parts',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'a\nb',
    ],
    ['null', null, ''],
    ['an image', [image], ''],
    ['an image between texts', [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }], 'a\nb'],
    ['nested results', [{ type: 'tool_result', content: [{ type: 'text', text: 'inner' }, image] }], 'inner'],
    ['an empty list', [], ''],
    ['something else', { stdout: 'x' }, '{"stdout":"x"}'],
  ])('[S52] keep %s as it was and give its text', (_, content, output) => {
    const [event] = translate([toolResult('toolu_1', content)]);
    expect(event).toEqual({
      seq: 0,
      stream_id: 0,
      depth: 0,
      thread: 'main',
      type: 'tool_result',
      toolUseId: 'toolu_1',
      output,
      isError: false,
      content,
    });
  });

  it('[S52] distinguish absent content from null', () => {
    const [event] = translate([
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] } },
    ]);
    expect(event).toMatchObject({ type: 'tool_result', output: '' });
    expect(event).not.toHaveProperty('content');
  });

  it('[S52] keep the structured form, and whether it is an error', () => {
    const structured = { stdout: 'x', interrupted: false };
    const [, event] = translate([
      assistant('m1', [call('toolu_1')]),
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'no', is_error: true }] },
        tool_use_result: structured,
      },
    ]);
    expect(event).toMatchObject({ type: 'tool_result', isError: true, structured });
  });

  it('[S52] come several in one line, as older documentation has them', () => {
    const blocks = ['toolu_1', 'toolu_2'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: id }));
    const events = translate([{ type: 'user', message: { content: blocks } }]);
    expect(events).toMatchObject([{ toolUseId: 'toolu_1' }, { toolUseId: 'toolu_2' }]);
  });
});
