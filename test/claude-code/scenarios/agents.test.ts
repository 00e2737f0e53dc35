import { it } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { bash, delegate } from '../claude-server.ts';
import { runScenario, select } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const workers = { roster: [{ name: 'worker' }] };

/** A worker that thinks, speaks, does something and reports. */
function work(name: string): string {
  return script(
    [{ think: `${name} thinks.` }, { say: `${name} looks.` }, bash(`echo ${name}`)],
    [{ say: `${name} is done.`, chunks: 4, every_ms: 5 }],
  );
}

function launch(description: string, child: string): object {
  const prompt = `Do ${description}. ${child}`;
  return { call: 'Agent', input: { subagent_type: 'worker', description, prompt, run_in_background: true } };
}

/** A program that the main agent writes: it starts agents on its own. */
function workflow(...names: readonly string[]): object {
  const meta = JSON.stringify({ name: 'look', description: 'Looks around', phases: [{ title: 'Look' }] });
  const agents = names.map(
    (name) => `() => agent(${JSON.stringify(`Do ${name}. ${work(name)}`).replaceAll('<', '\\u003c')})`,
  );
  return {
    call: 'Workflow',
    input: { script: `export const meta = ${meta};\nreturn await parallel([${agents.join(', ')}]);` },
  };
}

/** Several agents of one program. */
const scenarios: readonly Scenario[] = [
  {
    name: 'three at the same time, and a command of the main agent',
    isSmoke: true,
    agent: workers,
    drive: (run) => {
      const all = ['alpha', 'beta', 'gamma'].map((name) => delegate('worker', name, work(name)));
      return run.ask(`Go. ${script([{ say: 'I delegate.' }, ...all, bash('echo main')], [{ say: 'All done.' }])}`);
    },
  },
  {
    name: 'forty at the same time',
    agent: workers,
    drive: (run) => {
      const all = Array.from({ length: 40 }, (_, at) => delegate('worker', `part ${at}`, work(`worker ${at}`)));
      return run.ask(`Go. ${script([{ say: 'I delegate.' }, ...all], [{ say: 'All done.' }])}`);
    },
  },
  {
    name: 'two that say and do exactly the same',
    agent: workers,
    drive: (run) => {
      const all = ['one', 'other'].map((name) => delegate('worker', name, work('twin')));
      return run.ask(`Go. ${script(all, [{ say: 'Both done.' }])}`);
    },
  },
  {
    name: 'one after the other',
    agent: workers,
    drive: (run) =>
      run.ask(
        `Go. ${script([delegate('worker', 'one', work('one'))], [delegate('worker', 'two', work('two'))], [{ say: 'Done.' }])}`,
      ),
  },
  {
    name: 'an agent that the program brings along',
    drive: (run) =>
      run.ask(`Go. ${script([delegate('general-purpose', 'general', work('general'))], [{ say: 'Done.' }])}`),
  },
  {
    name: 'an agent that does not exist',
    agent: workers,
    drive: (run) => run.ask(`Go. ${script([delegate('stranger', 'nothing', work('stranger'))], [{ say: 'Done.' }])}`),
  },
  {
    name: 'answers of six blocks that come slowly',
    agent: workers,
    drive: (run) => {
      const slow = { chunks: 3, every_ms: 20 };
      const blocks = (name: string) => [
        { think: `${name} begins to think.`, ...slow },
        { say: `${name} says one.`, ...slow },
        { think: `${name} thinks on.`, ...slow },
        { say: `${name} says two.`, ...slow },
        { say: `${name} says three.`, ...slow },
        bash(`echo ${name}`),
      ];
      const child = (name: string) => script(blocks(name), blocks(`${name} again`).slice(0, -1));
      const all = ['alpha', 'beta'].map((name) => delegate('worker', name, child(name)));
      return run.ask(`Go. ${script(all, [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'agents of agents',
    agent: {
      roster: [
        {
          name: 'middle',
          system: `You are middle. ${script(
            [
              { say: 'I go deeper.' },
              {
                call: 'Agent',
                input: { subagent_type: 'deep', description: 'deeper', prompt: 'Go deeper.', run_in_background: false },
              },
            ],
            [{ say: 'From the middle.' }],
          )}`,
        },
        {
          name: 'deep',
          system: `You are deep. ${script([{ think: 'Deep.' }, { say: 'I look.' }, bash('echo deep')], [{ say: 'From the deep.' }])}`,
        },
      ],
    },
    drive: (run) => {
      const go = { subagent_type: 'middle', description: 'middle', prompt: 'Go deep.', run_in_background: false };
      return run.ask(`Go. ${script([{ call: 'Agent', input: go }], [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'one in the background, behind the turn that started it',
    isSmoke: true,
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('until [ -e go ]; do sleep 0.1; done')], [{ say: 'My report.' }]);
      await run.say(`Go. ${script([launch('look', child)], [{ say: 'Under way.' }], [{ say: 'It has reported.' }])}`);
      await run.see((event) => event.type === 'session.thread_status_idle' && event.agent_name === 'coordinator');
      await run.server.makeFile(run.session, 'go');
      await run.rest();
    },
  },
  {
    name: 'two in the background, and a message in the meantime',
    agent: workers,
    drive: async (run) => {
      const child = (name: string) =>
        script(
          [{ say: `${name} looks.` }, bash(`until [ -e ${name} ]; do sleep 0.1; done`)],
          [{ say: `${name} reports.` }],
        );
      const turns = [
        [launch('one', child('one')), launch('two', child('two'))],
        [{ say: 'Under way.' }],
        [{ say: 'Next.' }],
        [{ say: 'One is in.' }],
        [{ say: 'Two is in.' }],
      ];
      await run.say(`Go. ${script(...turns)}`);
      await run.see((event) => event.type === 'session.thread_status_idle' && event.agent_name === 'coordinator');
      await run.say('And in between?');
      await run.says('Next.');
      await run.server.makeFile(run.session, 'one');
      await run.says('One is in.');
      await run.server.makeFile(run.session, 'two');
      await run.says('Two is in.');
      await run.rest();
    },
  },
  {
    name: 'a workflow of two agents',
    drive: async (run) => {
      await run.say(`Go. ${script([workflow('one', 'two')], [{ say: 'Started.' }], [{ say: 'It has ended.' }])}`);
      await run.says('It has ended.');
      await run.rest();
    },
  },
  {
    name: 'a follow-up to one that has ended',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'First report.' }], [{ say: 'Second report.' }]);
      const follow = {
        call: 'SendMessage',
        input: { to: '{{last_user}}', message: 'More, please.', summary: 'More please' },
      };
      const turns = [
        [delegate('worker', 'look', child)],
        [{ say: 'One.' }],
        [follow],
        [{ say: 'Asked.' }],
        [{ say: 'Heard.' }],
      ];
      await run.ask(`Go. ${script(...turns)}`);
      const { frames } = await run.server.log(run.session);
      const created = frames.find(({ type }) => type === 'session.thread_created');
      await run.ask(created?.type === 'session.thread_created' ? String(created.payload.program_key) : '');
    },
  },
  {
    name: 'a request of a sub-agent that is answered at the third attempt',
    agent: workers,
    drive: (run) => {
      const fail = { fail: { status: 529, times: 2, retry_after_s: 0 } };
      const child = script([fail, { say: 'At last.' }, bash('echo one')], [{ say: 'Done.' }]);
      return run.ask(`Go. ${script([delegate('worker', 'look', child)], [{ say: 'Good.' }])}`);
    },
  },
  {
    name: 'a request of a sub-agent that is refused',
    agent: workers,
    drive: (run) => {
      const child = script(
        [{ say: 'I look.' }, bash('echo one')],
        [{ fail: { status: 400, message: 'no such thing', times: 5 } }, { say: 'Never.' }],
      );
      return run.ask(
        `Go. ${script([delegate('worker', 'look', child), delegate('worker', 'other', work('other'))], [{ say: 'Good.' }])}`,
      );
    },
  },
  {
    name: 'a sub-agent that refuses, and one whose answer is too long',
    agent: workers,
    drive: (run) => {
      const refusing = script([{ say: 'I will not.' }, { stop: 'refusal' }]);
      const long = script([{ say: 'Too lo' }, { stop: 'max_tokens' }], [{ say: 'ng.' }]);
      return run.ask(
        `Go. ${script([delegate('worker', 'refuse', refusing), delegate('worker', 'long', long)], [{ say: 'Good.' }])}`,
      );
    },
  },
];

await describeWithClaudeCode('one story of several agents', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J331] transcript, log and streams have the same content: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});
