import { it } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { bash, delegate } from '../claude-server.ts';
import { runScenario, select } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const workers = { roster: [{ name: 'worker' }] };
const once = { cut: { times: 1 } };
const always = { cut: { times: 50 } };
const slowly = { chunks: 3, every_ms: 20 };

/** Answers that break off, by where they do. */
const cuts: Readonly<Record<string, readonly object[]>> = {
  'in its first text': [{ say: 'Half of it', ...slowly }],
  'behind a whole text': [{ say: 'A whole text.' }],
  'in a text behind whole blocks': [
    { think: 'A thought.' },
    { say: 'A whole text.' },
    { say: 'And another one.' },
    { say: 'Half of it', ...slowly },
  ],
  'in a thought behind a text': [{ say: 'A whole text.' }, { think: 'Half a thought', ...slowly }],
  'behind a call': [{ say: 'I do it.' }, bash('echo before'), { say: 'Half of it', ...slowly }],
};

function launch(child: string): object {
  const input = { subagent_type: 'worker', description: 'look', prompt: `Look. ${child}`, run_in_background: true };
  return { call: 'Agent', input };
}

/** What an agent says whose answer breaks off like this, and what it says afterwards. */
function child(blocks: readonly object[], cut: object): string {
  return script(
    [...blocks, cut, { say: 'The rest of it.' }],
    [{ say: 'The answer behind it.' }],
    [{ say: 'The last one.' }],
  );
}

const scenarios: readonly Scenario[] = [
  ...Object.entries(cuts).flatMap(([where, blocks]): Scenario[] => [
    {
      name: `the answer of the main agent breaks off once ${where}`,
      drive: async (run) => {
        await run.ask(`Go. ${child(blocks, once)}`);
        await run.ask('And now?');
      },
    },
    {
      name: `the answers of two sub-agents break off once ${where}`,
      agent: workers,
      drive: (run) => {
        const all = ['one', 'two'].map((name) => delegate('worker', name, child(blocks, once)));
        return run.ask(`Go. ${script([{ say: 'I delegate.' }, ...all], [{ say: 'Done.' }])}`);
      },
    },
    {
      name: `the answer of a sub-agent breaks off for good ${where}`,
      agent: workers,
      drive: (run) =>
        run.ask(
          `Go. ${script([delegate('worker', 'one', child(blocks, always))], [{ say: 'Done.' }], [{ say: 'Next.' }])}`,
        ),
    },
    {
      name: `the answer of the main agent breaks off for good ${where}`,
      drive: async (run) => {
        // Behind a call the program goes on with its result.
        const isCalled = blocks.some((block) => 'call' in block);
        const cases = [{ match: 'And now', turn: [{ say: 'I go on.' }] }];
        const failing = { when: cases, else: [...blocks, always, { say: 'Never.' }] };
        const broken = `<script>${JSON.stringify(failing).replaceAll('<', '\\u003c')}</script>`;
        await run.ask(`Go. ${isCalled ? child(blocks, always) : broken}`);
        await run.ask('And now?');
      },
    },
  ]),
  {
    name: 'the answer of a sub-agent in the background breaks off once',
    isSmoke: true,
    agent: workers,
    drive: async (run) => {
      const blocks = cuts['in a text behind whole blocks']!;
      await run.say(
        `Go. ${script([launch(child(blocks, once))], [{ say: 'Under way.' }], [{ say: 'It has reported.' }])}`,
      );
      await run.says('It has reported.');
      await run.rest();
    },
  },
  {
    name: 'a request of a sub-agent in the background is answered at the third attempt',
    agent: workers,
    drive: async (run) => {
      const fail = { fail: { status: 529, times: 2, retry_after_s: 0 } };
      const look = script([fail, { say: 'At last.' }]);
      await run.say(`Go. ${script([launch(look)], [{ say: 'Under way.' }], [{ say: 'It has reported.' }])}`);
      await run.says('It has reported.');
      await run.rest();
    },
  },
];

await describeWithClaudeCode('one story with failures of the model', ({ path, version }) => {
  // Ten attempts, as the program makes on its own, take minutes.
  const server = shareClaudeServer(path, { CLAUDE_CODE_MAX_RETRIES: '2' });

  it.for(select(scenarios, version))(
    '[J360] transcript, log and streams have the same content: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});
