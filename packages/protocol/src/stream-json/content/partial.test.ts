import { describe, expect, it } from 'vitest';
import { partialMessages } from '../../../../../bench/streams.ts';
import {
  assistant,
  briefs,
  call,
  inputDelta,
  messageStart,
  messageStop,
  streamed,
  streamEvent,
  text,
  textDelta,
  thinking,
  thinkingDelta,
  translate,
} from '../../../../../test/support/lines.ts';
import { parseLine } from '../lines/parse-line.ts';
import { Translator } from '../translator/translator.ts';

const stop = (index: number) => streamEvent({ type: 'content_block_stop', index });
const whole = (block: object, uuid = 'u1') => assistant('m1', [block], { uuid });

/** `--include-partial-messages`: deltas of each block, and once more the whole block as a line. */
describe('partial messages', () => {
  it('[S42] emit deltas as they arrive, and nothing for the whole line that equals them', () => {
    const open = streamed(0, text(''), [textDelta('Hel'), textDelta('lo.')], { stop: false });
    const translator = new Translator();
    const each = [messageStart('m1'), ...open, whole(text('Hello.')), stop(0), messageStop()].map((line) =>
      translator.translate(line).map((event) => ('content' in event ? event.content : event.type)),
    );
    expect(each).toEqual([[], [], ['Hel'], ['lo.'], [], [], []]);
    expect(translator.drift()).toEqual({});
  });

  it('[S42] emit every block of (e) once, thinking and calls too', () => {
    const { lines, blocks } = partialMessages({ messages: 8, unicode: 0.3 });
    const said = new Map<string, string>();
    const calls: string[] = [];
    for (const event of translate(lines.map((line) => parseLine(line)!))) {
      if (event.type === 'tool_use') calls.push(`${event.message_id}.${event.block} ${event.toolUseId}`);
      if (event.type !== 'text_delta' && event.type !== 'thinking_delta') continue;
      const key = `${event.message_id}.${event.block} ${event.type === 'text_delta' ? 'text' : 'thinking'}`;
      said.set(key, (said.get(key) ?? '') + event.content);
    }
    const texts = blocks.filter(({ kind }) => kind !== 'tool_use');
    expect([...said]).toEqual(texts.map((block) => [`${block.messageId}.${block.index} ${block.kind}`, block.text]));
    const madeCalls = blocks.filter(({ kind }) => kind === 'tool_use');
    expect(calls).toEqual(madeCalls.map((block) => `${block.messageId}.${block.index} ${block.text}`));
  });

  it('[S42] emit the rest that the whole line has beyond the deltas', () => {
    const open = streamed(0, thinking(''), [thinkingDelta('hm')], { stop: false });
    expect(briefs([messageStart('m1'), ...open, whole(thinking('hmm, yes')), stop(0)])).toEqual([
      'main thinking_delta m1.0 hm',
      'main thinking_delta m1.0 m, yes',
    ]);
  });

  it('[S42] emit an empty block once, although no line has it', () => {
    const lines = [
      messageStart('m1'),
      ...streamed(0, text(''), []),
      ...streamed(1, text(''), [textDelta('b')], { stop: false }),
      whole(text('b')),
      stop(1),
    ];
    expect(briefs(lines)).toEqual(['main text_delta m1.0 ', 'main text_delta m1.1 b']);
  });

  it('[S42] settle lines that come after all blocks have ended, as 2.0.37 wrote them', () => {
    const lines = [
      messageStart('m1'),
      ...streamed(0, text(''), [textDelta('one')]),
      ...streamed(1, call('toolu_1'), [inputDelta('{"a":1}')]),
      ...streamed(2, text(''), [textDelta('two')]),
      messageStop(),
      whole(text('two'), 'u1'),
      whole(text('one'), 'u2'),
      whole(call('toolu_1', 'Bash', { a: 1 }), 'u3'),
    ];
    expect(briefs(lines)).toEqual([
      'main text_delta m1.0 one',
      'main tool_use_start m1.1 toolu_1',
      'main tool_input_delta m1.1 {"a":1}',
      'main tool_use m1.1 toolu_1',
      'main text_delta m1.2 two',
    ]);
  });

  it('[S42] settle each block once: of two equal texts the second line settles the second', () => {
    const lines = [
      messageStart('m1'),
      ...streamed(0, text(''), [textDelta('a')]),
      ...streamed(1, text(''), [textDelta('a')]),
      whole(text('a'), 'u1'),
      whole(text('ab'), 'u2'),
    ];
    expect(briefs(lines)).toEqual(['main text_delta m1.0 a', 'main text_delta m1.1 a', 'main text_delta m1.1 b']);
  });

  it('[S43] replace a block once whose whole line differs, and count it', () => {
    const translator = new Translator();
    const open = streamed(0, text(''), [textDelta('Hello wor')], { stop: false });
    const lines = [messageStart('m1'), ...open, whole(text('Hello, [interrupted]')), stop(0), messageStop()];
    const events = lines.flatMap((line) => translator.translate(line));
    expect(events.slice(1)).toMatchObject([
      { type: 'replace', message_id: 'm1', block: 0, kind: 'text', content: 'Hello, [interrupted]' },
    ]);
    expect(translator.drift()).toEqual({ 'settled/text': 1 });
  });

  it('[S44] pass the pieces of an input on as they are, and the whole input at the end', () => {
    const input = { command: 'echo "a\\n"', 'naïve 漢': [1, { deep: null }] };
    const json = JSON.stringify(input);
    const pieces = [json.slice(0, 7), json.slice(7, 20), json.slice(20)];
    const open = streamed(0, call('toolu_1'), pieces.map(inputDelta), { stop: false });
    for (const ending of [[whole(call('toolu_1', 'Bash', input)), stop(0)], [stop(0)]]) {
      const translator = new Translator();
      const events = [messageStart('m1'), ...open, ...ending].flatMap((line) => translator.translate(line));
      const raw = events.filter((event) => event.type === 'tool_input_delta').map(({ content }) => content);
      expect(raw).toEqual(pieces);
      expect(events.at(-1)).toMatchObject({ type: 'tool_use', toolUseId: 'toolu_1', toolName: 'Bash', input });
      expect(events.filter(({ type }) => type === 'tool_use').length).toBe(1);
      expect(translator.drift()).toEqual({});
    }
  });

  it('[S44] count a whole line with another input than was streamed, and take the line', () => {
    const translator = new Translator();
    const open = streamed(0, call('toolu_1'), [inputDelta('{"to":"a"}')], { stop: false });
    const lines = [messageStart('m1'), ...open, whole(call('toolu_1', 'Bash', { to: 'b' }))];
    expect(lines.flatMap((line) => translator.translate(line)).at(-1)).toMatchObject({ input: { to: 'b' } });
    expect(translator.drift()).toEqual({ 'settled/tool_use': 1 });
  });

  it('[S45] neither repeat nor end a block early when its line comes before its stop', () => {
    const lines = [
      messageStart('m1'),
      ...streamed(0, text(''), [textDelta('a')], { stop: false }),
      whole(text('a'), 'u1'),
      stop(0),
      ...streamed(1, text(''), [textDelta('a')], { stop: false }),
      whole(text('a'), 'u2'),
      stop(1),
      messageStop(),
    ];
    expect(briefs(lines)).toEqual(['main text_delta m1.0 a', 'main text_delta m1.1 a']);
  });

  it('[S46] take deltas without a start, with and without the id of their message', () => {
    const late = [
      streamEvent({ type: 'content_block_delta', index: 3, delta: textDelta('joined ') }),
      streamEvent({ type: 'content_block_delta', index: 3, delta: textDelta('late') }),
      streamEvent({ type: 'content_block_delta', index: 4, delta: inputDelta('{}') }),
      stop(3),
      stop(4),
      stop(9),
      messageStop(),
      messageStop(),
    ];
    expect(briefs(late).slice(0, 2)).toEqual(['main text_delta .0 joined ', 'main text_delta .0 late']);
    const named = late.map((line) => ({ ...line, api_message_id: 'm7' }));
    expect(briefs([...named, assistant('m7', [text('joined late')], { uuid: 'u1' })]).slice(0, 2)).toEqual([
      'main text_delta m7.0 joined ',
      'main text_delta m7.0 late',
    ]);
  });

  it('[S46] leave a message that was never closed when the next begins', () => {
    const lines = [
      messageStart('m1'),
      ...streamed(0, text(''), [textDelta('cut')], { stop: false }),
      messageStart('m2'),
      ...streamed(0, text(''), [textDelta('next')]),
    ];
    expect(briefs(lines)).toEqual(['main text_delta m1.0 cut', 'main text_delta m2.0 next']);
  });

  it.each([0, 1])(
    '[S51] take back what a broken message leaves behind from block %i on, but no block with a whole line',
    (from) => {
      const lines = [
        messageStart('m1'),
        ...streamed(0, text(''), [textDelta('kept')], { stop: false }),
        whole(text('kept')),
        stop(0),
        ...streamed(1, text(''), [textDelta('void')], { stop: false }),
        messageStop({ abandoned_blocks: { api_message_id: 'm1', from_block_index: from } }),
      ];
      expect(briefs(lines)).toEqual(['main text_delta m1.0 kept', 'main text_delta m1.1 void', 'main retract m1.1']);
    },
  );
});
