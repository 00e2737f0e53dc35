import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { agent, converse, script, scriptByWords, textsOf, type EventOf, wholeOf } from './conversation.suite.ts';
import { findDisorder } from './find-disorder.suite.ts';
import { PROGRAM_TEST_MS, type ProgramUnderTest } from './program-under-test.suite.ts';

/** Rules N1, N2, N4 and N12 of engines, applied to whole turns. */
export function answersSuite(program: ProgramUnderTest): void {
  turnsSuite(program);
  wordsSuite(program);
}

/** Tests of the events of turns, which differ if the gateway does not read the text of sub-agents. */
export function turnsSuite({ tested, words, version, isTapped, capabilities }: ProgramUnderTest): void {
  const isJoined = capabilities.subAgentReport === 'result';
  const hasSubAgents = capabilities.subAgentText !== 'none';

  it(
    '[J1] the events of a turn are in order: requests, blocks that grow and are whole, calls and their results, the end',
    async () => {
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
      // A call arrives complete, and so does its result.
      expect(events.filter(({ type }) => type === 'call')).toMatchObject([{ input: { command: 'echo here' } }]);
      expect(events.filter(({ type }) => type === 'result')).toMatchObject([
        { content: [{ text: `here${words.outputEnd}` }], isError: false },
      ]);
      const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event] : []));
      expect(ends.map(({ stopReason, isError }) => [stopReason, isError])).toEqual([
        [capabilities.stopReasons ? 'tool_use' : null, false],
        [capabilities.stopReasons ? 'end_turn' : null, false],
      ]);
      // The usage of a whole turn is reported for its last request.
      const counted = capabilities.requestUsage === 'turn' ? ends.slice(-1) : ends;
      for (const { usage } of counted) expect(usage.outputTokens).toBeGreaterThan(0);
      expect(events.at(-2)).toMatchObject({ type: 'turn_ended', outcome: { type: 'done' }, isMoreToCome: false });
      expect(events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(hasSubAgents)(
    '[J2] sub-agents are opened before any other event of them, and their usage adds up to that of the turn',
    async () => {
      const { program, events, ask, next } = await converse(tested(), { members: [agent({ name: 'worker' })] });
      const child = (name: string) =>
        script([{ say: `${name} looks.` }, words.bash('true')], [{ say: `${name} reports.` }]);
      const both = ['alpha', 'beta'].map((name) => words.delegate('worker', name, `Go. ${child(name)}`));
      await ask(`Go. ${script(both, [{ say: 'Done.' }])}`);
      await next('thread_ended', 1);
      await program.close();
      expect(findDisorder(events)).toEqual([]);
      const opened = events.filter(
        (event): event is EventOf<'thread_opened'> & { key: string } => event.type === 'thread_opened',
      );
      expect(opened).toMatchObject([
        { parentKey: 'main', agentName: 'worker', ...(words.describes ? { description: 'alpha' } : {}) },
        { parentKey: 'main', agentName: 'worker', ...(words.describes ? { description: 'beta' } : {}) },
      ]);
      const texts = opened.map(({ key }) => textsOf(events, key));
      // Without descriptions nothing identifies the sub-agents here, and two that start at the same time may begin in either order.
      const byText = texts.toSorted(([a = ''], [b = '']) => a.localeCompare(b));
      expect(words.describes ? texts : byText).toEqual([
        ['alpha looks.', 'alpha reports.'],
        ['beta looks.', 'beta reports.'],
      ]);
      expect(events.filter(({ type }) => type === 'thread_ended')).toMatchObject([
        { status: 'completed' },
        { status: 'completed' },
      ]);
      // Six requests; the scripted model counts its output, and no usage may be lost.
      const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event] : []));
      if (isJoined) expect(ends).toHaveLength(6);
      else expect(ends.filter(({ key }) => key !== 'main')).toHaveLength(4);
      const ofChildren = ends.filter(({ key }) => key !== 'main').map(({ usage }) => usage.outputTokens);
      if (isTapped) for (const tokens of ofChildren) expect(tokens).toBeGreaterThan(1);
      else expect(ends.at(-1)?.usage.outputTokens).toBeGreaterThan(4);
    },
    PROGRAM_TEST_MS,
  );
}

function wordsSuite({ tested, words, capabilities }: ProgramUnderTest): void {
  const hasSubAgents = capabilities.subAgentText !== 'none';

  it.runIf(!hasSubAgents)(
    '[J430] a program that does not report sub-agents runs its main agent with its definition, and opens no thread',
    async () => {
      const system = `You lead. ${script([{ say: 'As I am.' }], [{ say: 'Still.' }])}`;
      const { program, events, ask } = await converse(tested(), {
        agent: agent({ system }),
        members: [agent({ name: 'worker' })],
      });
      expect((await ask('Go.')).outcome).toEqual({ type: 'done' });
      await ask('And now?');
      await program.close();
      expect(textsOf(events)).toEqual(['As I am.', 'Still.']);
      expect(events.filter(({ type }) => type === 'thread_opened')).toEqual([]);
      expect(findDisorder(events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(hasSubAgents)(
    '[J185] the model of each agent receives that agent’s definition',
    async () => {
      const child = agent({ name: 'worker', system: `You work. ${script([{ say: 'As you say.' }])}` });
      const system = `You lead. ${script([words.delegate('worker', 'look', 'Go.')], [{ say: 'As I am.' }])}`;
      const { program, events, ask, next } = await converse(tested(), { agent: agent({ system }), members: [child] });
      await ask('Go.');
      const { key } = await next('thread_opened');
      await next('thread_ended');
      await program.close();
      // A report that arrives as a message is answered too.
      if (capabilities.subAgentReport === 'result') expect(textsOf(events)).toEqual(['As I am.']);
      else expect(new Set(textsOf(events))).toEqual(new Set(['As I am.']));
      expect(textsOf(events, key)).toEqual(['As you say.']);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J175] whatever the model says, the pieces add up to it, turn after turn',
    async () => {
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
    },
    PROGRAM_TEST_MS,
  );
}

const RUNS = process.env['FLEETLOOM_LONG'] === '1' ? 200 : 12;

// A placeholder would be filled in; the program trims white space at both ends, and omits empty texts.
const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 200 })
  .filter((one) => !one.includes('{{') && !one.includes('\0') && one.trim() === one);
const chunks = fc.integer({ min: 1, max: 30 });
const says = fc.record({ say: text, chunks });
const steps = fc.array(fc.oneof(says, fc.record({ think: text, chunks })), { maxLength: 4 });
// A turn without text at its end is requested again.
const turn = fc.tuple(steps, says).map(([before, last]) => [...before, last]);

function toExpected(one: { say: string } | { think: string }): object {
  return 'say' in one ? { type: 'text', text: one.say } : { type: 'thinking', thinking: one.think, signature: '' };
}
