import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agent, converse, openTested, script, textsOf, wholeOf } from './conversation.suite.ts';
import { endedSuite } from './ended.suite.ts';
import { findDisorder } from './find-disorder.suite.ts';
import { PROGRAM_TEST_MS, type ProgramUnderTest } from './program-under-test.suite.ts';

/** Tests of continued conversations and of the end of programs: rules N10 and N11 of engines. */
export function lifeSuite({ create, tested, words, capabilities }: ProgramUnderTest): void {
  const isJoined = capabilities.subAgentReport === 'result';
  const hasSubAgents = capabilities.subAgentText !== 'none';

  it(
    '[J3] a program continues a conversation of an earlier process, and emits nothing of it again',
    async () => {
      const first = await converse(tested());
      await first.ask(`Go. ${script([{ say: 'One.' }], [{ say: 'Two.' }])}`);
      await first.program.close();
      const { conversation } = await first.next('opened');
      const second = await converse(tested(), { resume: conversation });
      await second.ask('And now?');
      await second.program.close();
      expect(wholeOf(second.events)).toEqual([{ type: 'text', text: 'Two.' }]);
      // The usage of the earlier process is not counted again.
      const taken = second.events.flatMap((event) =>
        event.type === 'request_ended' ? [event.usage.outputTokens] : [],
      );
      expect(taken).toEqual([1]);
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(isJoined && hasSubAgents)(
    '[J182] a follow-up is a further run of the same sub-agent, also in the next process',
    async () => {
      const options = { members: [agent({ name: 'worker' })] };
      const first = await converse(tested(), options);
      const child = script([{ say: 'First.' }], [{ say: 'Second.' }], [{ say: 'Third.' }]);
      // A report that arrives as a message is read in a request of its own.
      const asked = (text: string) => (words.joinsFollowUps === true ? [] : [[{ say: text }]]);
      await first.ask(
        `Go. ${script(
          [words.delegate('worker', 'look', `Go. ${child}`)],
          [{ say: 'One.' }],
          [words.followUp('{{last_user}}', 'More, please.')],
          ...asked('Asked.'),
          [{ say: 'Heard.' }],
          [words.followUp('{{last_user}}', 'Even more.')],
          ...asked('Asked again.'),
          [{ say: 'Heard again.' }],
        )}`,
      );
      const { key, callId } = await first.next('thread_opened');
      first.program.say([{ type: 'text', text: key }]);
      await first.next('thread_ended', 1);
      expect(await first.next('thread_started')).toMatchObject({ key });
      expect(textsOf(first.events, key)).toEqual(['First.', 'Second.']);
      await first.find(
        (event): event is typeof event => event.type === 'block_ended' && textsOf([event]).includes('Heard.'),
      );
      await first.program.close();

      const { conversation } = await first.next('opened');
      const known = [{ key, callId: callId ?? '' }];
      const second = await converse(tested(), { ...options, resume: conversation, known });
      second.program.say([{ type: 'text', text: key }]);
      await second.next('thread_ended');
      await second.program.close();
      expect(textsOf(second.events, key)).toEqual(['Third.']);
      expect(findDisorder(second.events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it.runIf(!isJoined)(
    '[J182] a follow-up is a further run of the same sub-agent, also in the next process, where reports are messages',
    async () => {
      const options = { members: [agent({ name: 'worker' })] };
      const { directory } = tested();
      const mark = (name: string) => writeFile(join(directory, `j182-${name}`), '');
      const awaitMark = (name: string) => words.bash(`until [ -e j182-${name} ]; do sleep 0.05; done`);
      // The sub-agent ends after the turn of its parent, which would otherwise read the report as one more message.
      const child = script(
        ...['First', 'Second', 'Third'].flatMap((name) => [[awaitMark(name)], [{ say: `${name}.` }]]),
      );
      const first = await converse(tested(), options);
      await first.ask(
        `Go. ${script(
          [words.delegate('worker', 'look', `Go. ${child}`)],
          [{ say: 'One.' }],
          [words.followUp('{{last_user}}', 'More, please.')],
          [{ say: 'Asked.' }],
          ...words.followUpAfterRestart('{{last_user}}', 'Even more.'),
          [{ say: 'Asked again.' }],
        )}`,
      );
      await mark('First');
      const { key, callId } = await first.next('thread_opened');
      await first.next('thread_ended');
      await first.ask(key);
      await mark('Second');
      await first.next('thread_ended', 1);
      expect(await first.next('thread_started')).toMatchObject({ key });
      expect(textsOf(first.events, key)).toEqual(['First.', 'Second.']);
      expect(findDisorder(first.events)).toEqual([]);
      await first.program.close();

      const { conversation } = await first.next('opened');
      const known = [{ key, callId: callId ?? '' }];
      const second = await converse(tested(), { ...options, resume: conversation, known });
      await second.ask(key);
      await mark('Third');
      await second.next('thread_ended');
      await second.program.close();
      expect(textsOf(second.events, key)).toEqual(['Third.']);
      expect(findDisorder(second.events)).toEqual([]);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J4] a conversation that is lost is a turn that failed, or an end with its reason, and never silence',
    async () => {
      const { program, next, events } = await converse(tested(), { resume: '00000000-0000-4000-8000-000000000000' });
      program.say([{ type: 'text', text: 'Hello?' }]);
      expect(await next('exited')).toMatchObject({ isWanted: false });
      expect(JSON.stringify(events)).toMatch(words.lostConversation);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J7] while its events are not read the program has to wait, and a reader that resumes loses nothing',
    async () => {
      const program = await openTested(tested());
      const text = 'word '.repeat(25_000);
      program.say([{ type: 'text', text: `Go. ${script([{ say: text, chunks: 10_000 }])}` }]);
      // Long enough to fill every pipe between program and reader.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      let whole = '';
      for await (const events of program.events) {
        for (const event of events)
          if (event.type === 'block_ended' && event.content.type === 'text') whole = event.content.text;
        if (events.some(({ type }) => type === 'turn_ended')) break;
      }
      expect(whole === text).toBe(true);
      await program.close();
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J5] closing ends an idle program and a running one, and no process is left of either',
    async () => {
      const resting = await converse(tested());
      await resting.ask(`Go. ${script([{ say: 'Done.' }])}`);
      const busy = await converse(tested());
      busy.program.say([{ type: 'text', text: `Go. ${script([words.bash('tail -f /dev/null')])}` }]);
      await busy.next('call');
      await Promise.all([resting.program.close(), busy.program.close(), busy.program.close()]);
      for (const { events } of [resting, busy]) {
        expect(events.filter(({ type }) => type === 'exited')).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
      }
      expect(tested().countProcesses()).toBe(0);
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[J183] closing the engine ends all programs, and what is opened then is over, with its reason',
    async () => {
      const own = await create();
      const begun = await converse(own);
      begun.program.say([{ type: 'text', text: `Go. ${script([words.bash('tail -f /dev/null')])}` }]);
      await begun.next('call');
      await Promise.all([own.engine.close(), own.engine.close()]);
      expect(begun.events.at(-1)).toMatchObject({ type: 'exited', isWanted: true });
      expect(own.countProcesses()).toBe(0);
      const late = await converse(own);
      expect(await late.next('exited')).toMatchObject({ isWanted: false, message: expect.stringMatching(/closed/) });
      await own.close();
    },
    PROGRAM_TEST_MS,
  );

  endedSuite(async () => {
    const { program } = await converse(tested());
    await program.close();
    return program;
  });
}
