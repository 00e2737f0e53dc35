import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { agent, converse, script, scriptByWords, textsOf, type EventOf, wholeOf } from './conversation.suite.ts';
import { findDisorder } from './find-disorder.suite.ts';
import type { ProgramUnderTest } from './program-under-test.suite.ts';

/** What N1, N2, N4 and N12 say of engines, of whole turns. */
export function answersSuite(program: ProgramUnderTest): void {
  turnsSuite(program);
  wordsSuite(program);
}

/** How turns are told, which is different where nobody listens to sub-agents. */
export function turnsSuite({ tested, words, version, isTapped }: ProgramUnderTest): void {
  it('[J1] a turn is told in its order: requests, blocks that grow and are whole, calls and their results, the end', async () => {
    const { program, events, ask } = await converse(tested());
    const first = [{ think: 'Hm.' }, { say: 'I look.', chunks: 3 }, words.bash('echo here')];
    await ask(`Go. ${script(first, [{ say: 'Seen.' }])}`);
    await program.close();
    expect(findDisorder(events)).toEqual([]);
    expect(events[0]).toMatchObject({ type: 'opened', version });
    expect(wholeOf(events)).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'I look.' },
      { type: 'text', text: 'Seen.' },
    ]);
    // A call comes whole, and so does what it gave.
    expect(events.filter(({ type }) => type === 'call')).toMatchObject([{ input: { command: 'echo here' } }]);
    expect(events.filter(({ type }) => type === 'result')).toMatchObject([
      { content: [{ text: 'here' }], isError: false },
    ]);
    const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event] : []));
    expect(ends.map(({ stopReason, isError }) => [stopReason, isError])).toEqual([
      ['tool_use', false],
      ['end_turn', false],
    ]);
    for (const { usage } of ends) expect(usage.outputTokens).toBeGreaterThan(0);
    expect(events.at(-2)).toMatchObject({ type: 'turn_ended', outcome: { type: 'done' }, isMoreToCome: false });
    expect(events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
  }, 90_000);

  it('[J2] sub-agents are told of before they do anything, and what they took adds up to what the turn took', async () => {
    const { program, events, ask } = await converse(tested(), { members: [agent({ name: 'worker' })] });
    const child = (name: string) =>
      script([{ say: `${name} looks.` }, words.bash('true')], [{ say: `${name} reports.` }]);
    const both = ['alpha', 'beta'].map((name) => words.delegate('worker', name, `Go. ${child(name)}`));
    await ask(`Go. ${script(both, [{ say: 'Done.' }])}`);
    await program.close();
    expect(findDisorder(events)).toEqual([]);
    const opened = events.filter(
      (event): event is EventOf<'thread_opened'> & { key: string } => event.type === 'thread_opened',
    );
    expect(opened).toMatchObject([
      { parentKey: 'main', agentName: 'worker', description: 'alpha' },
      { parentKey: 'main', agentName: 'worker', description: 'beta' },
    ]);
    expect(opened.map(({ key }) => textsOf(events, key))).toEqual([
      ['alpha looks.', 'alpha reports.'],
      ['beta looks.', 'beta reports.'],
    ]);
    expect(events.filter(({ type }) => type === 'thread_ended')).toMatchObject([
      { status: 'completed' },
      { status: 'completed' },
    ]);
    // Six requests; the scripted model counts what it says, and nothing of it may be lost.
    const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event] : []));
    expect(ends).toHaveLength(6);
    const ofChildren = ends.filter(({ key }) => key !== 'main').map(({ usage }) => usage.outputTokens);
    if (isTapped) for (const tokens of ofChildren) expect(tokens).toBeGreaterThan(1);
    else expect(ends.at(-1)?.usage.outputTokens).toBeGreaterThan(4);
  }, 90_000);
}

function wordsSuite({ tested, words }: ProgramUnderTest): void {
  it('[J185] what its definitions say of each agent is what the model of that agent hears', async () => {
    const child = agent({ name: 'worker', system: `You work. ${script([{ say: 'As I am told.' }])}` });
    const system = `You lead. ${script([words.delegate('worker', 'look', 'Go.')], [{ say: 'As I am.' }])}`;
    const { program, events, ask, next } = await converse(tested(), { agent: agent({ system }), members: [child] });
    await ask('Go.');
    const { key } = await next('thread_opened');
    await program.close();
    expect(textsOf(events)).toEqual(['As I am.']);
    expect(textsOf(events, key)).toEqual(['As I am told.']);
  }, 90_000);

  it('[J175] whatever the model says, the pieces add up to it, turn after turn', async () => {
    const seed = Number(process.env['FLEETLOOM_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    console.log(`FLEETLOOM_SEED=${seed}`);
    const turns = fc.sample(turn, { seed, numRuns: RUNS });
    const { program, events, ask } = await converse(tested());
    const cases = Object.fromEntries(turns.map((turn, at) => [`Number ${at}!`, turn]));
    for (const at of turns.keys()) {
      const question = at === 0 ? `Number 0! ${scriptByWords(cases)}` : `Number ${at}!`;
      expect((await ask(question)).outcome).toEqual({ type: 'done' });
    }
    await program.close();
    expect(findDisorder(events)).toEqual([]);
    expect(wholeOf(events)).toEqual(turns.flat().map(toExpected));
  }, 90_000);
}

const RUNS = process.env['FLEETLOOM_LONG'] === '1' ? 200 : 12;

// A placeholder would be filled in; the program trims what begins or ends with nothing, and leaves out what is nothing.
const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 200 })
  .filter((one) => !one.includes('{{') && !one.includes('\0') && one.trim() === one);
const chunks = fc.integer({ min: 1, max: 30 });
const says = fc.record({ say: text, chunks });
const steps = fc.array(fc.oneof(says, fc.record({ think: text, chunks })), { maxLength: 4 });
// A turn without a word at its end is asked for again.
const turn = fc.tuple(steps, says).map(([before, last]) => [...before, last]);

function toExpected(one: { say: string } | { think: string }): object {
  return 'say' in one ? { type: 'text', text: one.say } : { type: 'thinking', thinking: one.think, signature: '' };
}
