import { expect, vi } from 'vitest';
import { script } from '../../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { bash } from '../../claude-server.ts';
import type { ScenarioRun } from '../scenario-run.ts';
import type { Scenario } from '../scenario.ts';
import { askingWorkers, deepen, keyAt, launch, member, settle, wait, when, workers } from './steps.ts';

const send = { call: 'SendMessage', input: { to: '{{last_user}}', message: 'Think of this.', summary: 'Think' } };

function named(name: string, agent: string, isBackground: boolean): object {
  const input = {
    subagent_type: agent,
    description: name,
    name,
    prompt: `Do ${name}.`,
    run_in_background: isBackground,
  };
  return { call: 'Agent', input };
}

/** A main agent that starts an agent, and sends a message to an agent whenever a user message is the id of that agent. */
function sender(child: string, more: Readonly<Record<string, readonly object[]>> = {}): string {
  const cases = {
    ...more,
    '^a[0-9a-f]{16}': [send],
    'Go\\.': [launch('look', child)],
    'Async agent launched': [{ say: 'Under way.' }],
    'task-notification': [{ say: 'It has reported.' }],
  };
  return `Go. ${when(cases, [{ say: 'Sent.' }])}`;
}

async function idOf(run: ScenarioRun, at = 0): Promise<string> {
  return (await keyAt(run, at)).key;
}

/** Waits until agents have sent this text this many times, each on its own stream. */
async function heard(run: ScenarioRun, text: string, times = 1): Promise<void> {
  const count = () => {
    const said = new Map<string | null | undefined, string>();
    for (const event of run.fleet)
      if (event.type === 'text') said.set(event.thread_id, (said.get(event.thread_id) ?? '') + event.delta);
    return [...said.values()].reduce((sum, each) => sum + each.split(text).length - 1, 0);
  };
  await vi.waitFor(() => expect(count(), `how often agents have said ${text}`).toBeGreaterThanOrEqual(times), {
    timeout: 30_000,
    interval: 20,
  });
}

/** Messages of the main agent to sub-agents. */
export const followUpScenarios: readonly Scenario[] = [
  {
    name: 'two messages of the main agent to a sub-agent that works',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, wait('begun', 'go')], [bash('echo more')], [{ say: 'Read.' }]);
      await run.say(sender(child));
      await heard(run, 'Under way.');
      await run.hasFile('begun');
      await run.say(await idOf(run));
      await heard(run, 'Sent.');
      await run.say(await idOf(run));
      await heard(run, 'Sent.', 2);
      await run.server.makeFile(run.session, 'go');
      await heard(run, 'It has reported.');
      await run.rest();
    },
  },
  {
    name: 'a message of the main agent to a sub-agent that is giving its last answer',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I look. '.repeat(60), chunks: 60, every_ms: 100 }], [{ say: 'Read.' }]);
      await run.say(sender(child));
      await heard(run, 'Under way.');
      await heard(run, 'I look.');
      await run.say(await idOf(run));
      await heard(run, 'Sent.');
      await heard(run, 'It has reported.');
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'a message of the main agent to a sub-agent that waits for an approval',
    agent: askingWorkers,
    drive: async (run) => {
      const child = script(
        [{ say: 'I ask.' }, bash('echo one')],
        [{ think: 'Hm.' }, bash('echo two')],
        [{ say: 'Read.' }],
      );
      await run.say(sender(child));
      await heard(run, 'Under way.');
      const [first] = await run.needs(1);
      await run.say(await idOf(run));
      await heard(run, 'Sent.');
      await run.decide(first!, 'allow');
      const second = await run.needsAnother(new Set([first!]));
      await run.decide(second, 'deny', 'No.');
      await heard(run, 'It has reported.');
      await run.rest();
    },
  },
  {
    name: 'a message of the main agent to a sub-agent that is interrupted before and after it has read the message',
    agent: workers,
    isDisturbed: true,
    drive: async (run) => {
      const child = script(
        [{ say: 'I look.' }, wait('begun', 'go')],
        [{ say: 'I read it.' }, wait('again', 'never')],
        [{ say: 'Never.' }],
      );
      await run.say(sender(child, { 'And now': [{ say: 'I go on.' }] }));
      await heard(run, 'Under way.');
      await run.hasFile('begun');
      await run.say(await idOf(run));
      await heard(run, 'Sent.');
      await run.server.makeFile(run.session, 'go');
      await run.hasFile('again');
      await run.say(await idOf(run));
      await heard(run, 'Sent.', 2);
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.rest();
      await run.ask('And now?');
      await settle(run);
    },
  },
  {
    name: 'a message to a sub-agent that has ended, and one while it works again',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'First.' }], [{ say: 'Second.' }, wait('begun', 'go')], [{ say: 'Third.' }]);
      await run.say(sender(child));
      await heard(run, 'It has reported.');
      await run.rest();
      await run.say(await idOf(run));
      await heard(run, 'Sent.');
      await run.hasFile('begun');
      await run.say(await idOf(run));
      await heard(run, 'Sent.', 2);
      await run.server.makeFile(run.session, 'go');
      await heard(run, 'It has reported.', 2);
      await run.rest();
    },
  },
  {
    name: 'a message to one of three sub-agents whose requests are retried',
    agent: workers,
    drive: async (run) => {
      const child = (name: string) =>
        script(
          [{ say: `${name} looks.` }, wait(name, 'go')],
          [{ fail: { status: 529, times: 2, retry_after_s: 0 } }, { think: 'Hm.' }, { say: `${name} is done.` }],
        );
      const cases = {
        '^a[0-9a-f]{16}': [send],
        'Go\\.': ['one', 'two', 'three'].map((name) => launch(name, child(name))),
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has reported.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Sent.' }])}`);
      await heard(run, 'Under way.');
      for (const name of ['one', 'two', 'three']) await run.hasFile(name);
      await run.say(await idOf(run, 1));
      await heard(run, 'Sent.');
      await run.server.makeFile(run.session, 'go');
      await run.rest();
    },
  },
  {
    name: 'a message of a sub-agent to its own sub-agent that has ended, and to one that works',
    agent: {
      roster: [
        member('middle', [
          [named('deep', 'deep', false)],
          [{ call: 'SendMessage', input: { to: 'deep', message: 'More.', summary: 'More' } }],
          [named('other', 'other', true)],
          [bash('until [ -e begun ]; do sleep 0.1; done')],
          [{ call: 'SendMessage', input: { to: 'other', message: 'Think of this.', summary: 'Think' } }],
          [bash('touch go'), { say: 'From the middle.' }],
          [{ say: 'Again.' }],
          [{ say: 'And again.' }],
          [{ say: 'And again.' }],
        ]),
        member('deep', [[{ say: 'From the deep.' }], [{ say: 'More of it.' }, bash('echo more')], [{ say: 'All.' }]]),
        member('other', [
          [{ say: 'I look.' }, wait('begun', 'go')],
          [{ think: 'Hm.' }, bash('echo read')],
          [{ say: 'Read.' }],
        ]),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      const turns = [[named('middle', 'middle', false)], [{ say: 'Done.' }], [{ say: 'Later.' }], [{ say: 'Later.' }]];
      await run.say(`Go. ${script(...turns)}`);
      await heard(run, 'Done.');
      await settle(run);
    },
  },
  {
    name: 'a message to a sub-agent whose program is killed after the sub-agent has read the message',
    agent: workers,
    isDisturbed: true,
    drive: async (run) => {
      const child = script(
        [{ say: 'I look.' }, wait('begun', 'go')],
        [{ say: 'I read it.' }, wait('again', 'never')],
        [{ say: 'Never.' }],
      );
      await run.say(sender(child, { 'And now': [{ say: 'I go on.' }] }));
      await heard(run, 'Under way.');
      await run.hasFile('begun');
      await run.say(await idOf(run));
      await heard(run, 'Sent.');
      await run.server.makeFile(run.session, 'go');
      await run.hasFile('again');
      await run.isWritten();
      await run.kill();
      await run.rest();
      await run.ask('And now?');
      await settle(run);
    },
  },
];
