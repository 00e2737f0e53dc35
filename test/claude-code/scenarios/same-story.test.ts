import { expect, it } from 'vitest';
import { findDifferences } from './same-story.ts';
import { type Item, MAIN, type Result, type Story, StoryBuilder } from './story.ts';

// The oracle itself: whatever a log may do to a story is found.

const options = { names: ['transcript', 'log'], isDisturbed: false } as const;
const ok: Result = { isError: false, isInterrupted: false, content: 'one' };
const interrupted: Result = { isError: true, isInterrupted: true, content: '' };
const failed: Result = { isError: true, isInterrupted: false, content: 'no' };

function call(id: string, result: Result | null = ok): Item {
  return { kind: 'call', id, name: 'Bash', input: '{"command":"echo one"}', result };
}

const items: readonly Item[] = [
  { kind: 'input', text: 'Go.' },
  { kind: 'thinking', text: 'Hm.' },
  { kind: 'text', text: 'Same.' },
  { kind: 'text', text: 'Same.' },
  call('toolu_1'),
];

function story(main: readonly Item[], child: readonly Item[] = items.slice(1, 3), parent = MAIN): Story {
  const builder = new StoryBuilder();
  for (const item of main) builder.add(MAIN, item);
  builder.open('a1', parent);
  for (const item of child) builder.add('a1', item);
  return builder.build();
}

it('[J337] equal stories have no difference', () => {
  expect(findDifferences(story(items), story(items), options)).toEqual([]);
});

it.for<[string, Story]>([
  ['an item is missing', story(items.toSpliced(3, 1))],
  ['an item appears twice', story(items.toSpliced(1, 0, items[1]!))],
  ['two items are exchanged', story([items[0]!, items[2]!, items[1]!, ...items.slice(3)])],
  ['two blocks are one', story([...items.slice(0, 2), { kind: 'text', text: 'Same.Same.' }, items[4]!])],
  ['an item is on another thread', story(items.slice(1), [items[0]!, ...items.slice(1, 3)])],
  ['a thread is missing', { threads: new Map([...story(items).threads].slice(0, 1)), problems: [] }],
  ['a thread is below another one', story(items, items.slice(1, 3), 'a2')],
  ['a result is missing', story([...items.slice(0, 4), call('toolu_1', null)])],
  ['a result is another one', story([...items.slice(0, 4), call('toolu_1', { ...ok, content: 'two' })])],
  ['a result is an error', story([...items.slice(0, 4), call('toolu_1', { ...ok, isError: true })])],
  ['a call that has a result is interrupted', story([...items.slice(0, 4), call('toolu_1', interrupted)])],
  ['a call has another id', story([...items.slice(0, 4), call('toolu_2')])],
])('[J337] a difference is found: %s', ([, actual]) => {
  expect(findDifferences(story(items), actual, options)).not.toEqual([]);
});

it('[J337] only in a turn that was cut off a call without a result may be closed as interrupted', () => {
  const transcript = story([...items.slice(0, 4), call('toolu_1', null)]);
  const log = story([...items.slice(0, 4), call('toolu_1', interrupted)]);
  expect(findDifferences(transcript, log, options)).not.toEqual([]);
  expect(findDifferences(transcript, log, { ...options, isDisturbed: true })).toEqual([]);
  expect(findDifferences(story(items), log, { ...options, isDisturbed: true })).not.toEqual([]);
});

it('[J337] only in a turn that was cut off the result of a call that could no longer be permitted may be missing in the transcript', () => {
  const content = 'Tool permission request failed: Error: Tool permission stream closed before response received';
  const open = story([...items.slice(0, 4), call('toolu_1', null)]);
  const log = (result: Result) => story([...items.slice(0, 4), call('toolu_1', result)]);
  const unanswered = log({ ...failed, content });
  expect(findDifferences(open, unanswered, { ...options, isDisturbed: true })).toEqual([]);
  expect(findDifferences(open, unanswered, options)).not.toEqual([]);
  expect(findDifferences(open, log(failed), { ...options, isDisturbed: true })).not.toEqual([]);
  expect(findDifferences(story(items), unanswered, { ...options, isDisturbed: true })).not.toEqual([]);
});

it('[J337] a second result, a result without a call and a call that appears twice are problems of a story', () => {
  const builder = new StoryBuilder();
  builder.add(MAIN, call('toolu_1', null));
  builder.end(MAIN, 'toolu_1', ok);
  builder.end(MAIN, 'toolu_1', ok);
  builder.end(MAIN, 'toolu_2', ok);
  builder.end('a1', 'toolu_1', ok);
  builder.add(MAIN, call('toolu_1', null));
  expect(builder.build().problems).toHaveLength(4);
});

it('[J337] only in a turn that was cut off the log may have more of an answer that did not end well', () => {
  const builder = new StoryBuilder();
  builder.begin(MAIN);
  builder.add(MAIN, { kind: 'text', text: 'Half' });
  builder.finish(MAIN, false);
  const empty = new StoryBuilder().build();
  expect(findDifferences(empty, builder.build(), options)).not.toEqual([]);
  expect(findDifferences(empty, builder.build(), { ...options, isDisturbed: true })).toEqual([]);
  expect(findDifferences(builder.build(), empty, { ...options, isDisturbed: true })).not.toEqual([]);
});

it('[J337] only what a killed program had printed last may be in the log and not in the transcript: items, results and agents', () => {
  const printed: Item = { kind: 'text', text: 'Printed' };
  const build = (isBeforeKill: boolean, ...later: readonly Item[]) => {
    const builder = new StoryBuilder();
    builder.isBeforeKill = isBeforeKill;
    builder.add(MAIN, call('toolu_1', null));
    builder.end(MAIN, 'toolu_1', ok);
    builder.add(MAIN, printed);
    for (const item of later) builder.add(MAIN, item);
    builder.open('a1', MAIN);
    builder.add('a1', { kind: 'input', text: 'Look.' });
    builder.isBeforeKill = false;
    builder.add(MAIN, { kind: 'text', text: 'I go on.' });
    return builder.build();
  };
  const disturbed = { ...options, isDisturbed: true };
  const write = (result: Result | null, ...more: readonly Item[]) => {
    const builder = new StoryBuilder();
    for (const item of [call('toolu_1', result), ...more, { kind: 'text', text: 'I go on.' } as const])
      builder.add(MAIN, item);
    return builder.build();
  };
  const transcript = write(null);
  expect(findDifferences(transcript, build(true), disturbed)).toEqual([]);
  expect(findDifferences(transcript, build(true), options)).not.toEqual([]);
  expect(findDifferences(build(true), transcript, disturbed)).not.toEqual([]);
  const differences = findDifferences(transcript, build(false), disturbed).join('\n');
  for (const missing of ['ok', 'Printed', 'thread a1']) expect(differences).toContain(missing);
  // The program makes the file of an agent before it writes the task.
  const opened = write(null);
  const empty = new Map([...opened.threads, ['a1', { key: 'a1', parent: MAIN, items: [] }]]);
  expect(findDifferences({ ...opened, threads: empty }, build(true), disturbed)).toEqual([]);
  expect(findDifferences({ ...opened, threads: empty }, build(false), disturbed)).not.toEqual([]);
  // The program that resumes the conversation writes that it does not know the result.
  const lost =
    "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown.";
  expect(findDifferences(write({ ...failed, content: lost }), build(true), disturbed)).toEqual([]);
  expect(findDifferences(write({ ...failed, content: lost }), build(false), disturbed)).not.toEqual([]);
  // Another result than the one in the transcript is never right.
  expect(findDifferences(write(failed), build(true), disturbed)).not.toEqual([]);
  // The program writes in order: what it wrote last was printed after what it wrote before.
  const next: Item = { kind: 'text', text: 'Next' };
  expect(findDifferences(write(null, next), build(true, next), disturbed)).not.toEqual([]);
  expect(findDifferences(write(null, printed), build(true, next), disturbed)).toEqual([]);
});

it('[J337] a message may be in the log before it is taken up, and not after', () => {
  const [input, ...rest] = items;
  const late = story([rest[0]!, input!, ...rest.slice(1)]);
  expect(findDifferences(late, story(items), options)).toEqual([]);
  expect(findDifferences(story(items), late, options)).not.toEqual([]);
});

it('[J337] messages that the program takes up at once may be one in the transcript, and none of them may be missing or late', () => {
  const input = (text: string): Item => ({ kind: 'input', text });
  const joined = story([input('One.\nTwo.Three.'), ...items.slice(1)]);
  const apart = ['One.', 'Two.', 'Three.'].map(input);
  expect(findDifferences(joined, story([...apart, ...items.slice(1)]), options)).toEqual([]);
  for (let at = 0; at < apart.length; at++) {
    expect(findDifferences(joined, story([...apart.toSpliced(at, 1), ...items.slice(1)]), options)).not.toEqual([]);
  }
  const late = [...apart.slice(0, 2), items[1]!, apart[2]!, ...items.slice(2)];
  expect(findDifferences(joined, story(late), options)).not.toEqual([]);
  expect(findDifferences(joined, story([...apart, input('Four.'), ...items.slice(1)]), options)).not.toEqual([]);
});

it('[J337] the program may add notes behind what a client gave, and to an answer the sentence around it', () => {
  const given = (name: string, content: string, isGiven?: boolean): Story => {
    const result = { isError: false, isInterrupted: false, content, ...(isGiven ? { isGiven } : {}) };
    return story([{ kind: 'call', id: 'toolu_1', name, input: '{}', result }]);
  };
  const noted = given('form', 'filled\n[a note]');
  expect(findDifferences(noted, given('form', 'filled', true), options)).toEqual([]);
  expect(findDifferences(noted, given('form', 'filled'), options)).not.toEqual([]);
  expect(findDifferences(noted, given('form', 'another', true), options)).not.toEqual([]);
  const sentence = given('AskUserQuestion', 'Answered: "Which?"="Red".');
  expect(findDifferences(sentence, given('AskUserQuestion', '{"Which?":"Red"}', true), options)).toEqual([]);
  expect(findDifferences(sentence, given('AskUserQuestion', '{"Which?":"Blue"}', true), options)).not.toEqual([]);
});
