import { script } from '../../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { type AgentChoice, bash, delegate, toolset } from '../../claude-server.ts';
import type { ScenarioRun } from '../scenario-run.ts';
import type { Scenario } from '../scenario.ts';
import {
  allowAll,
  asking,
  askingWorkers,
  below,
  deepen,
  fails,
  fill,
  form,
  hook,
  keyAt,
  launch,
  member,
  putHooks,
  question,
  settle,
  wait,
  when,
  workers,
} from './steps.ts';

/** Blocks with pauses between them, so that the blocks of several agents interleave. */
function slowBlocks(name: string): object[] {
  return [
    { think: `${name} thinks first. `, chunks: 3, every_ms: 40 },
    { say: `${name} says one. `, chunks: 4, every_ms: 30 },
    { say: 'The same words. ', chunks: 5, every_ms: 30 },
    { think: 'The same thought.', chunks: 2, every_ms: 60 },
    { say: 'The same words. ', chunks: 1 },
  ];
}

function middleAndDeep(name: string): AgentChoice[] {
  const deep = `${name}-deep`;
  return [
    member(name, [
      [...slowBlocks(name), below(`${deep} one`, deep), below(`${deep} two`, deep)],
      [...slowBlocks(name), { say: `${name} reports.` }],
    ]),
    member(deep, [[...slowBlocks(deep), bash('echo deep')], slowBlocks(deep)]),
  ];
}

const replaceInput = (permissionDecision: string) =>
  hook(
    {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision,
        permissionDecisionReason: 'As the hook wants it.',
        updatedInput: { command: 'echo replaced', description: 'Replaced' },
      },
    },
    'Bash',
  );

async function decideAll(run: ScenarioRun, count: number): Promise<void> {
  for (const id of (await run.needs(count)).toReversed()) await run.decide(id, 'allow');
}

/** Many agents at once, hooks that change calls, and messages of people in between. */
export const crowdScenarios: readonly Scenario[] = [
  {
    name: 'five slow blocks of each of two sub-agents and of four agents of theirs, with equal texts',
    agent: { roster: [...middleAndDeep('left'), ...middleAndDeep('right')] },
    drive: async (run) => {
      await deepen(run);
      const calls = [...slowBlocks('main'), below('left', 'left'), below('right', 'right')];
      await run.ask(`Go. ${script(calls, slowBlocks('main'))}`);
    },
  },
  {
    name: 'hooks that replace the input of calls of the main agent and of a sub-agent',
    agent: workers,
    drive: async (run) => {
      await putHooks(run, { PreToolUse: replaceInput('allow') });
      const child = script([{ say: 'I do.' }, bash('echo child')], [{ say: 'Child done.' }]);
      await run.ask(
        `Go. ${script([bash('echo main'), bash('echo more')], [delegate('worker', 'look', child)], [{ say: 'Done.' }])}`,
      );
    },
  },
  {
    name: 'hooks that replace the input of a call and have people asked about it',
    agent: { ...asking, ...askingWorkers },
    drive: async (run) => {
      await putHooks(run, { PreToolUse: replaceInput('ask') });
      const child = script([{ say: 'I ask.' }, bash('echo child')], [{ say: 'Child done.' }]);
      await run.say(
        `Go. ${script([bash('echo main')], [delegate('worker', 'look', child)], [bash('echo last')], [{ say: 'Done.' }])}`,
      );
      const seen = new Set<string>();
      for (const result of ['allow', 'allow', 'deny'] as const) {
        const id = await run.needsAnother(seen);
        seen.add(id);
        await run.decide(id, result, result === 'deny' ? 'Not that.' : undefined);
      }
      await run.rest();
    },
  },
  {
    name: 'a hook that adds to messages, and one that ends the agent behind a call',
    drive: async (run) => {
      await putHooks(run, {
        UserPromptSubmit: hook({
          hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'It is late.' },
        }),
        PostToolUse: hook({ continue: false, stopReason: 'That is enough.' }, 'Bash'),
      });
      await run.ask(`Go. ${when({ 'And now': [{ say: 'I go on.' }] }, [{ say: 'I do.' }, bash('echo one')])}`);
      await run.ask('And now?');
    },
  },
  {
    name: 'a compaction while a sub-agent in the background waits for an approval',
    agent: askingWorkers,
    drive: async (run) => {
      const child = script([{ say: 'I ask.' }, bash('echo child')], [{ say: 'My report.' }]);
      const cases = {
        'And now': [{ say: 'I go on.' }],
        'Async agent launched': [{ say: `Under way. ${'A long talk. '.repeat(100)}` }],
        'task-notification': [{ say: 'It has reported.' }],
        'Your task is to create': [{ say: '<summary>All of it.</summary>' }],
      };
      await run.say(`Go. ${when(cases, [launch('look', child)])}`);
      const [id] = await run.needs(1);
      await run.say('/compact');
      await run.see((event) => event.type === 'agent.thread_context_compacted');
      await run.decide(id!, 'allow');
      await settle(run);
      await run.ask(`And now? ${script([{ say: 'I go on.' }])}`);
    },
  },
  {
    name: 'slash commands while a sub-agent works in the background',
    agent: workers,
    drive: async (run) => {
      const child = script([{ say: 'I look.' }, wait('begun', 'go')], [{ say: 'My report.' }]);
      const cases = {
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has reported.' }],
        'Go\\.': [launch('look', child)],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hears('Under way.');
      await run.hasFile('begun');
      await run.say('/context');
      await run.hears('Context Usage');
      await run.say('And this.');
      await run.hears('Well.');
      await run.say('/context');
      await run.server.makeFile(run.session, 'go');
      await run.hears('It has reported.');
      await settle(run);
    },
  },
  {
    name: 'a plan that is refused twice, with a question and a message in between, then approved and done by two sub-agents',
    agent: workers,
    drive: async (run) => {
      await run.server.client.beta.sessions.update(run.session, {
        metadata: { 'claude_code.permission_mode': 'plan' },
      });
      const plan = (text: string) => ({ call: 'ExitPlanMode', input: { plan: text } });
      const child = (name: string) => script([bash(`touch ${name}`)], [{ say: `${name} is done.` }]);
      const turns = [
        [{ think: 'Hm.' }, plan('# One')],
        [question('Which colour?')],
        [{ say: 'Again.' }, plan('# Two')],
        [{ say: 'Once more.' }, plan('# Three')],
        [delegate('worker', 'one', child('one')), delegate('worker', 'two', child('two'))],
        [{ say: 'Done.' }],
        [{ say: 'And that.' }],
      ];
      await run.say(`Go. ${script(...turns)}`);
      const seen = new Set<string>();
      const next = async () => {
        const id = await run.needsAnother(seen);
        seen.add(id);
        return id;
      };
      await run.decide(await next(), 'deny', 'Not like this.');
      const asked = await next();
      await run.say('Blue, if you ask me.');
      await run.give(asked, 'Blue');
      await run.decide(await next(), 'deny', 'Nor like this.');
      await run.decide(await next(), 'allow');
      await settle(run);
    },
  },
  {
    name: 'an interrupt while requests of an agent of an agent are retried, and the next message',
    agent: {
      roster: [
        member('middle', [[{ say: 'I delegate.' }, below('deep', 'deep')], [{ say: 'Never.' }]]),
        member('deep', [
          [{ say: 'I begin.' }, bash('touch begun')],
          [fails(50, 20), { say: 'Never.' }],
        ]),
      ],
    },
    isDisturbed: true,
    drive: async (run) => {
      await deepen(run);
      const cases = { 'And now': [{ say: 'I go on.' }] };
      await run.say(`Go. ${when(cases, [{ say: 'I begin.' }, below('middle', 'middle')])}`);
      await run.hasFile('begun');
      await run.receives((event) => event.type === 'request_retrying');
      await run.send({ type: 'user.interrupt' });
      await run.rest();
      await run.ask('And now?');
    },
  },
  {
    name: 'approvals at three depths that are open at the same time',
    agent: {
      ...asking,
      roster: [
        member('middle', [[below('deep', 'deep'), bash('echo middle')], [{ say: 'From the middle.' }]], asking),
        member('deep', [[{ say: 'I ask.' }, bash('echo deep')], [{ say: 'From the deep.' }]], asking),
      ],
    },
    drive: async (run) => {
      await deepen(run);
      await run.say(`Go. ${script([below('middle', 'middle'), bash('echo main')], [{ say: 'Done.' }])}`);
      await decideAll(run, 3);
      await run.rest();
    },
  },
  {
    name: 'an interrupt of a sub-agent that waits for two custom tools, while another one asks',
    agent: {
      roster: [
        { name: 'caller', tools: [form] },
        { name: 'asker', ...asking },
      ],
    },
    isDisturbed: true,
    drive: async (run) => {
      const calling = script([{ say: 'I call.' }, fill, fill], [{ say: 'Never.' }]);
      const askingChild = script([{ say: 'I ask.' }, bash('echo asked')], [{ say: 'Asker is done.' }]);
      const calls = [delegate('caller', 'call', calling), delegate('asker', 'ask', askingChild)];
      await run.say(`Go. ${when({ 'And now': [{ say: 'I go on.' }], 'Go\\.': calls }, [{ say: 'Well.' }])}`);
      const open = await run.needs(3);
      const { id } = await keyAt(run, 0);
      await run.send({ type: 'user.interrupt', session_thread_id: id });
      for (const each of open) await Promise.allSettled([run.decide(each, 'allow'), run.give(each, 'late')]);
      await settle(run);
      await run.ask('And now?');
    },
  },
  {
    name: 'files that two sub-agents write, read, change and search at the same time',
    agent: workers,
    drive: async (run) => {
      const folder = `${run.server.directory}/workspaces/${run.session}`;
      const child = (name: string) => {
        const file_path = `${folder}/${name}.txt`;
        return script(
          [{ call: 'Write', input: { file_path, content: `${name}\nöne\n` } }],
          [{ call: 'Edit', input: { file_path, old_string: 'öne', new_string: 'two' } }],
          [{ call: 'Read', input: { file_path } }],
          [{ call: 'Edit', input: { file_path, old_string: 'nowhere', new_string: 'x' } }],
          [
            { call: 'Glob', input: { pattern: `${name}*.txt` } },
            { call: 'Grep', input: { pattern: 'two', path: file_path } },
          ],
          [{ say: `${name} is done.` }],
        );
      };
      const calls = ['one', 'two'].map((name) => delegate('worker', name, child(name)));
      await run.ask(`Go. ${script(calls, [{ say: 'Done.' }])}`);
    },
  },
  {
    name: 'messages while a question is open, and while the last text comes',
    drive: async (run) => {
      const slowly = { say: 'It is done now, I think. ', chunks: 6, every_ms: 150 };
      await run.say(`Go. ${script([question('Which colour?')], [slowly], [{ say: 'Two.' }], [{ say: 'Three.' }])}`);
      const [id] = await run.needs(1);
      await run.say('Take your time.');
      await run.give(id!, 'Blue');
      await run.hears('It is');
      await run.say('And this?');
      await settle(run);
    },
  },
  {
    name: 'a refusal, a cut call, a broken request and a good answer of four sub-agents at once',
    agent: workers,
    drive: async (run) => {
      const children = {
        refuses: script([{ say: 'I begin.' }, bash('echo r')], [{ say: 'I will not.' }, { stop: 'refusal' }]),
        cut: script([{ say: 'I begin.' }, { stop: 'max_tokens' }], [{ say: 'More.' }]),
        breaks: script([{ say: 'I begin.' }, bash('echo b')], [{ fail: { status: 400, message: 'no', times: 50 } }]),
        works: script([{ say: 'I begin.' }, bash('echo w')], [{ say: 'It works.' }]),
      };
      const calls = Object.entries(children).map(([name, child]) => delegate('worker', name, child));
      await run.ask(`Go. ${when({ 'And now': [{ say: 'I go on.' }], 'Go\\.': calls }, [{ say: 'Well.' }])}`);
      await run.ask('And now?');
    },
  },
  {
    name: 'eight sub-agents with equal answers, of which four ask',
    agent: { roster: [{ name: 'worker' }, { name: 'asker', ...asking }] },
    drive: async (run) => {
      const child = script([...slowBlocks('child'), bash('echo same')], slowBlocks('child'));
      const calls = Array.from({ length: 8 }, (_, at) => delegate(at % 2 === 0 ? 'worker' : 'asker', `${at}`, child));
      await run.say(`Go. ${script(calls, [{ say: 'Done.' }])}`);
      await decideAll(run, 4);
      await run.rest();
    },
  },
  {
    name: 'an interrupt in a text, and three messages right behind it',
    isDisturbed: true,
    drive: async (run) => {
      const slowly = { say: 'One two three four five.', chunks: 5, every_ms: 600_000 };
      const cases = { 'And now': [{ say: 'I go on.' }], 'Go\\.': [{ say: 'A whole one.' }, slowly] };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hears('One');
      await run.send({ type: 'user.interrupt' });
      for (const text of ['One.', 'Two.', 'And now?']) await run.say(text);
      await settle(run);
    },
  },
  {
    name: 'a command in the background whose output the agent reads while the command runs',
    drive: async (run) => {
      const command = 'echo first; touch begun; tail -f /dev/null';
      const cases = {
        'And now': [{ say: 'I go on.' }],
        '^b[0-9a-z]{8}$': [{ call: 'TaskOutput', input: { task_id: '{{last_user}}', block: false, timeout: 1_000 } }],
        'Go\\.': [{ call: 'Bash', input: { command, description: 'Never ends', run_in_background: true } }],
        'task-notification': [{ say: 'It is over.' }],
      };
      await run.ask(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hasFile('begun');
      const { frames } = await run.server.log(run.session);
      const work = frames.find(({ type }) => type === 'program.work_started');
      const id = work?.type === 'program.work_started' ? work.payload.work_id : '';
      await run.ask(id);
      await run.ask('And now?');
    },
  },
  {
    name: 'a denial of the main agent while two sub-agents work, one in the background, and a message behind it',
    agent: { ...asking, roster: [{ name: 'worker' }] },
    drive: async (run) => {
      const child = (name: string) => script([{ say: 'I look.' }, wait(name, 'go')], [{ say: `${name} reports.` }]);
      const calls = [launch('one', child('one')), delegate('worker', 'two', child('two')), bash('echo main')];
      const cases = { 'task-notification': [{ say: 'It has reported.' }], 'Go\\.': calls };
      await run.say(`Go. ${when(cases, [{ say: 'Well.' }])}`);
      await run.hasFile('one');
      await run.hasFile('two');
      const ask = await run.see((event) => event.type === 'agent.tool_use' && event.evaluated_permission === 'ask');
      await run.decide('id' in ask ? ask.id : '', 'deny', 'No.');
      await run.say('And this.');
      await run.server.makeFile(run.session, 'go');
      await settle(run);
    },
  },
  {
    name: 'a sub-agent in the background that is continued while another one asks, and an approval of its further run',
    agent: { roster: [{ name: 'worker' }, { name: 'asker', ...asking }] },
    drive: async (run) => {
      const asker = script(
        [{ say: 'I ask.' }, bash('echo one')],
        [{ say: 'First report.' }],
        [bash('echo two')],
        [{ say: 'Second report.' }],
      );
      const send = { call: 'SendMessage', input: { to: '{{last_user}}', message: 'More.', summary: 'More please' } };
      const cases = {
        '^a[0-9a-f]{16}': [send],
        'Go\\.': [launch('ask', asker, 'asker')],
        'Async agent launched': [{ say: 'Under way.' }],
        'task-notification': [{ say: 'It has reported.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Sent.' }])}`);
      await allowAll(run);
      await run.hears('It has reported.');
      await settle(run);
      await run.say((await keyAt(run, 0)).key);
      await run.hears('Second report.');
      await settle(run);
    },
  },
  {
    name: 'a workflow with a custom tool and an agent that is denied, beside a sub-agent in the background',
    agent: { tools: [toolset('always_allow'), form], roster: [{ name: 'worker' }] },
    drive: async (run) => {
      run.onEvent(async (event) => {
        if (event.type === 'agent.custom_tool_use') await run.give(event.id, 'filled');
      });
      const child = (name: string, ...turns: readonly object[][]) =>
        JSON.stringify(`Do ${name}. ${script(...turns)}`).replaceAll('<', '\\u003c');
      const one = child('one', [{ say: 'One asks.' }, fill], [{ say: 'One reports.' }]);
      const two = child(
        'two',
        [{ say: 'Two reads.' }, { call: 'Read', input: { file_path: '/nowhere' } }],
        [{ say: 'Two reports.' }],
      );
      const meta = JSON.stringify({ name: 'look', description: 'Looks', phases: [{ title: 'Look' }] });
      const source = `export const meta = ${meta};\nconst a = await agent(${one}, { label: 'one' });\nreturn [a, await agent(${two}, { label: 'two' })];`;
      const background = launch('look', script([{ say: 'I look.' }, bash('echo look')], [{ say: 'My report.' }]));
      const cases = {
        'Go\\.': [{ call: 'Workflow', input: { script: source } }, background],
        'task-notification': [{ say: 'Something has ended.' }],
      };
      await run.say(`Go. ${when(cases, [{ say: 'Under way.' }])}`);
      await run.hears('has ended.');
      await settle(run);
    },
  },
];
