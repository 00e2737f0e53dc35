import { script } from '../../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { bash, delegate } from '../../claude-server.ts';
import type { Scenario } from '../scenario.ts';
import { PICTURE, workers, asking, fails, launch, when, below, member, look, deepen, putHooks, hook } from './steps.ts';

/** Messages, pictures and interrupts that meet something else. */
export const messageScenarios: readonly Scenario[] = [
  {
    name: 'a picture in the result of a sub-agent, and of an agent of an agent',
    agent: {
      roster: [
        { name: 'worker' },
        member('middle', [[below('deep', 'deep')], [{ say: 'Done.' }]]),
        member('deep', look),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      const calls = [delegate('worker', 'one', script(...look)), below('middle', 'middle')];
      await run.ask(`Go. ${script(calls, [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'a picture and no text in a message',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'One.' }], [{ say: 'Two.' }])}`);
      const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
      await run.send({ type: 'user.message', content: [{ type: 'image', source }] });
      await run.rest();
    },
  },
  {
    name: 'two messages in one request, and two more while it answers',
    drive: async (run) => {
      const wait = bash('touch begun; until [ -e go ]; do sleep 0.1; done');
      const message = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
      await run.send(message(`Go. ${script([wait], [{ say: 'Read.' }], [{ say: 'More.' }])}`), message('And this.'));
      await run.hasFile('begun');
      await run.send(message('And that.'), message('And more.'));
      await run.server.makeFile(run.session, 'go');
      await run.rest();
    },
  },
  {
    name: 'a compaction while a sub-agent works in the background',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('until [ -e go ]; do sleep 0.1; done')], [{ say: 'My report.' }]);
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'Async agent launched': [{ say: `Under way. ${'A long talk. '.repeat(100)}` }],
        'task-notification': [{ say: 'It has reported.' }],
        'Your task is to create': [{ say: '<summary>All of it.</summary>' }],
      };
      await run.say(`Go. ${when(cases, [launch('look', child)])}`);
      await run.hears('Under way.');
      await run.see((event) => event.type === 'session.thread_status_idle' && event.agent_name === 'coordinator');
      await run.say('/compact');
      await run.see((event) => event.type === 'agent.thread_context_compacted');
      await run.server.makeFile(run.session, 'go');
      await run.rest();
      await run.ask(`And now? ${script([{ say: 'I go on.' }])}`);
    },
  },
  {
    name: 'a conversation that is cleared',
    drive: async (run) => {
      await run.ask(`Go. ${script([{ say: 'First.' }, bash('echo one')], [{ say: 'Second.' }])}`);
      await run.ask('/clear');
      await run.ask(`And now? ${script([bash('echo two')], [{ say: 'Third.' }])}`);
    },
  },
  {
    name: 'a message while requests of the main agent are retried',
    drive: async (run) => {
      await run.say(
        `Go. ${script([fails(3, 1), { say: 'At last.' }, bash('echo one')], [{ say: 'Read.' }], [{ say: 'More.' }])}`,
      );
      await run.receives((event) => event.type === 'request_retrying');
      await run.say('And think of this.');
      await run.rest();
    },
  },
  {
    name: 'a message while an approval is open',
    agent: asking,
    drive: async (run) => {
      await run.say(`Go. ${script([{ say: 'May I?' }, bash('echo one')], [{ say: 'Read.' }], [{ say: 'More.' }])}`);
      const [id] = await run.needs(1);
      await run.say('And think of this.');
      await run.decide(id!, 'allow');
      await run.rest();
    },
  },
  {
    name: 'an interrupt while requests of the main agent are retried',
    isDisturbed: true,
    drive: async (run) => {
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, [fails(50, 2), { say: 'Never.' }])}`);
      await run.receives((event) => event.type === 'request_retrying');
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'an interrupt while requests of two sub-agents are retried',
    agent: workers,
    isDisturbed: true,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, bash('echo one')], [fails(50, 2), { say: 'Never.' }]);
      const all = ['one', 'two'].map((name) => delegate('worker', name, child));
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, all)}`);
      await run.receives((event) => event.type === 'request_retrying');
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'a hook that refuses a message',
    drive: async (run) => {
      await putHooks(run, {
        UserPromptSubmit: hook('grep -q forbidden && { echo "Not that." >&2; exit 2; }; echo "A note."; exit 0'),
      });
      await run.ask(`Go. ${script([{ say: 'First.' }], [{ say: 'Second.' }])}`);
      await run.ask('Something forbidden.');
      await run.ask('And now?');
    },
  },
  {
    name: 'interrupts of a session that is idle, and before the first message',
    drive: async (run) => {
      await run.send({ type: 'user.interrupt' });
      await run.ask(`Go. ${script([{ say: 'First.' }], [{ say: 'Second.' }])}`);
      await run.send({ type: 'user.interrupt' });
      await run.ask('And now?');
    },
  },
  {
    name: 'an interrupt at once behind the message, and the next message',
    isDisturbed: true,
    drive: async (run) => {
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, [{ say: 'First.', chunks: 5, every_ms: 100 }])}`);
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'an answer that pauses, and texts of white space',
    drive: async (run) => {
      await run.ask(
        `Go. ${script([{ say: 'One' }, { stop: 'pause_turn' }], [{ say: 'Two.' }], [{ think: '' }, { say: ' ' }, { say: 'Three.' }])}`,
      );
      await run.ask('And now?');
    },
  },
];
