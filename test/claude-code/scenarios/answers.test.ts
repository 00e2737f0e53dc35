import { it } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { bash } from '../claude-server.ts';
import { runScenario, select } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAJ0lEQVR4nAXBMQEAAACCMIIZzJNQBnQDDBaHEBMbF6Gmtq7CzOzcPKdjE0EdpVEhAAAAAElFTkSuQmCC';

/** One agent, and everything that a model may answer. */
const scenarios: readonly Scenario[] = [
  {
    name: 'one text',
    isSmoke: true,
    drive: (run) => run.ask(`Hello. ${script([{ say: 'Hello to you.' }])}`),
  },
  {
    name: 'thoughts, texts that are equal, and two calls in one answer',
    isSmoke: true,
    drive: (run) =>
      run.ask(
        `Go. ${script(
          [
            { think: 'Hm.' },
            { say: 'Same.' },
            { say: 'Same.' },
            bash('echo one'),
            { say: 'Between.' },
            bash('echo two'),
          ],
          [{ think: 'Hm.' }, { say: 'Same.' }, { think: 'Well.' }, { say: 'Done.' }],
        )}`,
      ),
  },
  {
    name: 'a long text with every kind of character',
    drive: (run) =>
      run.ask(
        `Go. ${script([{ say: `${'Grüße, 🧵 and \u2028 "quotes" \\ too.\n'.repeat(2000)}End.`, chunks: 50, every_ms: 2 }])}`,
      ),
  },
  {
    name: 'a second and a third message',
    drive: async (run) => {
      await run.ask(
        `Go. ${script([{ say: 'First.' }], [{ say: 'Second.' }, bash('echo 2')], [{ say: 'Again.' }], [{ say: 'Third.' }])}`,
      );
      await run.ask('And now?');
      await run.ask('And then?');
    },
  },
  {
    name: 'tools that fail, and one that does not exist',
    drive: (run) =>
      run.ask(
        `Go. ${script([bash('echo oops >&2; exit 3')], [{ call: 'NoSuchTool', input: { a: 1 } }], [bash('')], [{ say: 'Done.' }])}`,
      ),
  },
  {
    name: 'a picture in the message',
    drive: async (run) => {
      const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
      const text = `Look. ${script([{ say: 'A picture.' }])}`;
      const content = [
        { type: 'text', text },
        { type: 'image', source },
      ];
      await run.send({ type: 'user.message', content });
      await run.rest();
    },
  },
  {
    name: 'a picture in the result of a tool',
    drive: (run) =>
      run.ask(
        `Go. ${script(
          [bash(`echo ${PICTURE} | base64 -d > a.png; printf %s "$PWD"`)],
          [{ call: 'Read', input: { file_path: '{{last_result}}/a.png' } }],
          [{ say: 'I see.' }],
        )}`,
      ),
  },
  {
    name: 'files that are written, read and edited',
    drive: (run) =>
      run.ask(
        `Go. ${script(
          [bash('printf %s "$PWD"')],
          [{ call: 'Write', input: { file_path: '{{last_result}}/a.txt', content: 'one\n' } }],
          [bash('printf %s "$PWD"')],
          [{ call: 'Edit', input: { file_path: '{{last_result}}/a.txt', old_string: 'one', new_string: 'two' } }],
          [
            { call: 'Glob', input: { pattern: '*.txt' } },
            { call: 'Grep', input: { pattern: 'two' } },
          ],
          [{ say: 'Done.' }],
        )}`,
      ),
  },
  {
    name: 'slash commands, known and unknown',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'First.' }], [{ say: 'Second.' }])}`);
      await run.ask('/context');
      await run.ask('/nosuchcommand');
      await run.ask('And now?');
    },
  },
  {
    name: 'a compaction that a person asks for',
    drive: async (run) => {
      const talk = Array.from({ length: 6 }, (_, at) => [
        { say: `Answer ${at}. ${'A long talk. '.repeat(50)}` },
        bash('echo on'),
      ]);
      await run.ask(`Go. ${script(...talk, [{ say: 'First.' }], [{ say: 'A summary.' }])}`);
      await run.ask('/compact');
      await run.ask(`And now? ${script([{ say: 'After it.' }])}`);
    },
  },
  {
    name: 'a refusal, and the next message',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'I will not.' }, { stop: 'refusal' }], [{ say: 'Second.' }])}`);
      await run.ask('And now?');
    },
  },
  {
    name: 'an answer that is too long for its limit',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'Too lo' }, { stop: 'max_tokens' }], [{ say: 'ng.' }])}`);
      await run.ask('And now?');
    },
  },
  {
    name: 'a request that is refused, and the next message',
    drive: async (run) => {
      const fail = { fail: { status: 400, message: 'no such thing', times: 1 } };
      await run.ask(`Go. ${script([fail, { say: 'First.' }], [{ say: 'Second.' }])}`);
      await run.ask('And now?');
    },
  },
  {
    name: 'a request that is answered at the third attempt',
    isSmoke: true,
    drive: async (run) => {
      const fail = { fail: { status: 529, times: 2, retry_after_s: 0 } };
      await run.ask(`Go. ${script([fail, { think: 'Hm.' }, { say: 'At last.' }])}`);
    },
  },
  {
    name: 'an answer whose connection breaks once',
    drive: (run) =>
      run.ask(`Go. ${script([{ say: 'Half of it', chunks: 2 }, { cut: { times: 1 } }, { say: 'The whole.' }])}`),
  },
  {
    name: 'a command in the background',
    drive: async (run) => {
      const command = 'until [ -e go ]; do sleep 0.1; done; echo went';
      const call = { call: 'Bash', input: { command, description: 'Waits', run_in_background: true } };
      await run.say(`Go. ${script([call], [{ say: 'Under way.' }], [{ say: 'It has ended.' }])}`);
      await run.says('Under way.');
      await run.server.makeFile(run.session, 'go');
      await run.says('It has ended.');
      await run.rest();
    },
  },
  {
    name: 'a cron job that the agent has created',
    // At a full minute, or up to 90 s before a full or half hour.
    isLong: true,
    drive: async (run) => {
      const cron = { call: 'CronCreate', input: { cron: '* * * * *', prompt: 'Look again.', recurring: false } };
      await run.ask(`Go. ${script([cron], [{ say: 'Scheduled.' }], [{ say: 'Awake.' }])}`);
      await run.says('Awake.', 120_000);
      await run.rest();
    },
  },
  {
    name: 'a wake-up that the agent has scheduled',
    // 2.1.197 has the tool and refuses to schedule anything (J392).
    version: '2.1.325',
    // The shortest wake-up is after a minute.
    isLong: true,
    drive: async (run) => {
      const wake = {
        call: 'ScheduleWakeup',
        input: { delaySeconds: 60, reason: 'To look again', prompt: 'Look again.' },
      };
      await run.ask(`Go. ${script([wake], [{ say: 'Scheduled.' }], [{ say: 'Awake.' }])}`);
      await run.says('Awake.', 120_000);
      await run.rest();
    },
  },
  {
    name: 'a message in the middle of a turn',
    isSmoke: true,
    drive: async (run) => {
      const wait = bash('touch begun; until [ -e go ]; do sleep 0.1; done');
      await run.say(`Go. ${script([{ say: 'I wait.' }, wait], [{ say: 'I have read it.' }], [{ say: 'And more.' }])}`);
      await run.hasFile('begun');
      await run.say('And think of this.');
      await run.server.makeFile(run.session, 'go');
      await run.rest();
    },
  },
];

await describeWithClaudeCode('one story of one agent', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J330] transcript, log and streams have the same content: %s',
    { timeout: 240_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});
