import { describe, expect, it } from 'vitest';
import {
  assistant,
  call,
  init,
  result,
  text,
  thinking,
  toolResult,
  translate,
} from '../../../../../test/support/lines.ts';
import { extractContent, parseDoubleEncoded, parseLine, type StreamJsonMessage, Translator } from '../index.ts';

/**
 * What the public documentation of two earlier libraries shows (claude-code-parser: Deduplication, Multi-Agent
 * Interleaving; claude-wire: Protocol Gotchas), with exactly the output that it shows.
 */
describe('Deduplication: three consecutive events', () => {
  const EVENTS = [
    '{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Let me look at the code..."}]}}',
    '{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Let me look at the code..."},{"type":"text","text":"I found the issue."}]}}',
    '{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"Let me look at the code..."},{"type":"text","text":"I found the issue."},{"type":"tool_use","id":"toolu_1","name":"Edit","input":{"file":"a.ts"}}]}}',
  ];

  it('[S21] emits thinking, text and tool_use once each', () => {
    const translator = new Translator();
    const relayed = EVENTS.map((line) => translator.translate(parseLine(line)!));
    expect(relayed).toEqual([
      [event(0, { type: 'thinking_delta', block: 0, content: 'Let me look at the code...' })],
      [event(1, { type: 'text_delta', block: 1, content: 'I found the issue.' })],
      [event(2, { type: 'tool_use', block: 2, toolUseId: 'toolu_1', toolName: 'Edit', input: { file: 'a.ts' } })],
    ]);
  });

  it('[S21] starts again at a turn boundary and where a new content array begins', () => {
    const again = [...EVENTS, ...EVENTS.slice(0, 1)].map((line) => parseLine(line)!);
    const typesOf = (lines: StreamJsonMessage[]) => translate(lines).map(({ type }) => type);
    const turn = ['thinking_delta', 'text_delta', 'tool_use'];
    // A result, in both documented forms, makes equal content of the next turn new.
    expect(typesOf([...again.slice(0, 3), result(), ...again.slice(0, 3)])).toEqual([
      ...turn,
      'turn_complete',
      ...turn,
    ]);
    expect(
      typesOf([again[0]!, { type: 'system', subtype: 'result' }, again[0]!]).filter((type) => type !== 'turn_complete'),
    ).toEqual(['thinking_delta', 'thinking_delta']);
    // After a tool cycle the array is shorter and other: it is said.
    expect(typesOf([...again.slice(0, 3), toolResult('toolu_1', 'ok'), assistant('', [text('Fixed.')])])).toEqual([
      ...turn,
      'tool_result',
      'text_delta',
    ]);
  });

  it('[S23] gives the growth of a block, where the documented rule stops at its first sight', () => {
    const growing = ['Let me', 'Let me look'].map((content) => assistant('', [thinking(content)]));
    expect(translate(growing)).toMatchObject([{ content: 'Let me' }, { content: ' look' }]);
  });

  it('[S15] takes true deltas, as it documents them without --verbose', () => {
    const deltas = [assistant('', [thinking('a')]), assistant('', [text('b')]), assistant('', [call('toolu_1')])];
    expect(translate(deltas).map(({ type }) => type)).toEqual(['thinking_delta', 'text_delta', 'tool_use']);
  });
});

describe('Multi-Agent Interleaving: parallel sub-agents', () => {
  const [searching, testing] = [text('Agent A searching...'), text('Agent B testing...')];
  const STDOUT: StreamJsonMessage[] = [
    init(),
    assistant('', [thinking('plan...'), text('I will delegate.'), call('Agent_A', 'Agent'), call('Agent_B', 'Agent')]),
    assistant('', [searching]),
    assistant('', [searching, call('Grep', 'Grep')]),
    assistant('', [testing]),
    assistant('', [testing, call('Bash', 'Bash')]),
    results('Grep', 'Bash'),
    results('Agent_A', 'Agent_B'),
    assistant('', [text('Both done.')]),
    result(),
  ];

  it('[S33] gives in ten steps the documented output and nothing else', () => {
    const translator = new Translator();
    const steps = STDOUT.map((line) => translator.translate(line).map(documented));
    expect(steps).toEqual([
      ['session_meta'],
      ['thinking_delta(plan...)', 'text_delta(I will delegate.)', 'tool_use(Agent_A)', 'tool_use(Agent_B)'],
      ['text_delta(Agent A searching...)'],
      ['tool_use(Grep)'],
      ['text_delta(Agent B testing...)'],
      ['tool_use(Bash)'],
      ['tool_result(Grep)', 'tool_result(Bash)'],
      ['tool_result(Agent_A)', 'tool_result(Agent_B)'],
      ['text_delta(Both done.)'],
      ['turn_complete'],
    ]);
  });

  it('[S33] repeats nothing when it returns to an agent, unlike the documented rule', () => {
    const back = [...STDOUT.slice(0, 6), assistant('', [searching, call('Grep', 'Grep'), text('Found it.')])];
    expect(translate(back).slice(9).map(documented)).toEqual(['text_delta(Found it.)']);
  });

  it('[S33] keeps the problem case: a third agent whose array is as long as the last one', () => {
    const lines = [
      assistant('', [thinking('plan'), text('go'), call('Agent_A', 'Agent')]),
      assistant('', [text('text_A')]),
      assistant('', [text('text_B')]),
    ];
    expect(translate(lines).slice(3).map(documented)).toEqual(['text_delta(text_A)', 'text_delta(text_B)']);
  });
});

describe('Protocol Gotchas', () => {
  it('[S49] double-encoded results are decoded when asked for, and only then', () => {
    const line = parseLine('{"type":"result","result":"\\"The actual text here\\""}')!;
    const resultOf = (options = {}) => new Translator(options).translate(line)[0];
    expect(resultOf({ doubleEncodedResults: true })).toMatchObject({ result: 'The actual text here' });
    expect(resultOf()).toMatchObject({ result: '"The actual text here"' });
    expect(parseDoubleEncoded('"The actual text here"')).toBe('The actual text here');
    expect(parseDoubleEncoded('not encoded')).toBe('not encoded');
  });

  it('[S52] polymorphic tool_result.content is a plain string in all three shapes', () => {
    const shapes = ['file contents here', [{ type: 'text', text: 'File edited successfully' }], null];
    expect(shapes.map(extractContent)).toEqual(['file contents here', 'File edited successfully', '']);
    expect(translate(shapes.map((content) => toolResult('t', content)))).toMatchObject(
      shapes.map((content) => ({ type: 'tool_result', output: extractContent(content), content })),
    );
  });

  it('[S28] the text of thinking is read from either field', () => {
    const lines = [
      assistant('', [{ type: 'thinking', thinking: 'Let me analyze...' }], { uuid: 'u1' }),
      assistant('', [{ type: 'thinking', text: 'Let me analyze...' }], { uuid: 'u2' }),
    ];
    expect(translate(lines)).toMatchObject([
      { type: 'thinking_delta', content: 'Let me analyze...' },
      { type: 'thinking_delta', content: 'Let me analyze...' },
    ]);
  });

  it('[S21] cumulative content arrays are said once, and again after a result', () => {
    const [one, two, three] = [thinking('t'), text('x'), call('toolu_1')];
    const turn = [assistant('', [one]), assistant('', [one, two]), assistant('', [one, two, three])];
    expect(translate([...turn, result(), ...turn]).map(({ type }) => type)).toEqual([
      'thinking_delta',
      'text_delta',
      'tool_use',
      'turn_complete',
      'thinking_delta',
      'text_delta',
      'tool_use',
    ]);
  });

  it('[S33] a first block that changes is another agent, also beyond 64 characters and for equal hidden thinking', () => {
    const opening = 'I am going to look carefully at every file in the repository, and then ';
    const agents = [text(`${opening}A.`), text(`${opening}B.`), call('toolu_1'), call('toolu_2'), thinking('')];
    expect(translate(agents.map((block) => assistant('', [block]))).map(documented)).toEqual([
      `text_delta(${opening}A.)`,
      `text_delta(${opening}B.)`,
      'tool_use(toolu_1)',
      'tool_use(toolu_2)',
      'thinking_delta()',
    ]);
  });
});

function event(seq: number, body: object): object {
  return { seq, stream_id: 0, depth: 0, thread: 'main', ...body };
}

function results(...ids: string[]): StreamJsonMessage {
  const blocks = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `${id} is done` }));
  return { type: 'user', message: { role: 'user', content: blocks } };
}

/** An event in the words of the documentation. */
function documented(event: ReturnType<typeof translate>[number]): string {
  if ('toolUseId' in event) return `${event.type}(${event.toolUseId})`;
  return 'content' in event ? `${event.type}(${event.content})` : event.type;
}
