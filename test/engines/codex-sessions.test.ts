import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import {
  converse,
  script,
  textsOf as textsOfEvents,
} from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { withServer } from '../server/server.suite.ts';
import type { ServerOptions } from '../../packages/server/src/server.ts';
import { serveMcp } from '../../packages/server/src/tools/mcp/mcp-server.suite.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { type AgentChoice, ClaudeServer, textsOf, toolset } from '../claude-code/claude-server.ts';
import { findProcesses } from '../claude-code/processes.ts';
import { describeWithProgram } from '../support/programs.ts';
import { codeWords, directWords, openCodexPrograms } from './codex-programs.ts';
import { PROGRAM_TEST_MS } from '../../packages/server/src/engines/program/suite/program-under-test.suite.ts';

const lookup = {
  type: 'custom',
  name: 'lookup',
  description: 'Looks a word up',
  input_schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

// Whole sessions through the official client: the real Codex, the scripted model behind it.
describeWithProgram('codex', 'sessions', ({ path }) => {
  const worlds = [
    { model: 'codex/gpt-5.5', words: directWords },
    { model: 'codex/gpt-6.1-sol', words: codeWords },
  ];

  it.each(worlds)(
    '[CX30] a message is answered, and the next one continues with the same conversation ($model)',
    async ({ model, words }) => {
      await withCodexServer(async (server) => {
        const session = await server.createSession({ model });
        const turns = script(
          [{ think: 'Hm.' }, { say: 'First.' }, words.bash('echo here > made.txt')],
          [{ say: 'Made.' }],
          [{ expect: { contains: ['And now?'] } }, { say: 'Second.' }],
        );
        const first = await server.run(session, `Begin. ${turns}`);
        expect(first.map(({ type }) => type)).toEqual([
          'session.status_running',
          'session.thread_status_running',
          'user.message',
          'span.model_request_start',
          'agent.thinking',
          'agent.message',
          'agent.tool_use',
          'agent.tool_result',
          'span.model_request_end',
          'span.model_request_start',
          'agent.message',
          'span.model_request_end',
          'session.thread_status_idle',
          'session.usage',
          'session.status_idle',
        ]);
        const second = await server.run(session, 'And now?');
        expect([...textsOf(first), ...textsOf(second)]).toEqual(['First.', 'Made.', 'Second.']);
        expect(await server.files(session)).toEqual(['made.txt']);
        expect((await server.log(session)).problems).toEqual([]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it.each(worlds)(
    '[CX31] sub-agents are threads with their own names, messages, calls and ends ($model)',
    async ({ model, words }) => {
      await withCodexServer(async (server) => {
        const session = await server.createSession({ model, roster: [{ name: 'worker', model }] });
        const child = (name: string) =>
          script([{ say: `${name} looks.` }, words.bash(`echo ${name} > ${name}.txt`)], [{ say: `${name} is done.` }]);
        const both = ['alpha', 'beta'].map((name) => words.delegate('worker', name, `Go. ${child(name)}`));
        await server.run(session, `Go. ${script([{ say: 'I delegate.' }, ...both], [{ say: 'All done.' }])}`);
        const threads = await server.threads(session);
        expect(threads.map(({ status }) => status)).toEqual(['idle', 'idle', 'idle']);
        const children = threads.filter(({ parent_thread_id: parent }) => parent !== null);
        const said = await Promise.all(children.map(async ({ id }) => textsOf(await server.threadEvents(session, id))));
        expect(said.map((texts) => texts.join(' ')).toSorted()).toEqual([
          'alpha looks. alpha is done.',
          'beta looks. beta is done.',
        ]);
        const { frames, problems } = await server.log(session);
        const created = frames.flatMap((frame) => (frame.type === 'session.thread_created' ? [frame.payload] : []));
        expect(created).toMatchObject([{ agent_name: 'worker' }, { agent_name: 'worker' }]);
        expect(await server.files(session)).toEqual(['alpha.txt', 'beta.txt']);
        expect(problems).toEqual([]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[CX32] approvals of the main agent and of a sub-agent are answered by the client, and the model reads why one was denied',
    async () => {
      await withCodexServer(async (server) => {
        const words = directWords;
        const model = 'codex/gpt-5.5';
        const asking: AgentChoice = { model, tools: [toolset('always_ask')] };
        const session = await server.createSession({ ...asking, roster: [{ ...asking, name: 'worker' }] });
        const child = script([words.bash('touch by-child')], [{ say: 'Reported.' }]);
        const turns = script(
          [words.bash('touch unwanted')],
          [{ expect: { contains: ['Not this one.'] } }, words.delegate('worker', 'look', `Go. ${child}`)],
          [{ say: 'Done.' }],
        );
        const decided = new Set<string>();
        await server.run(session, `Go. ${turns}`, async (event) => {
          const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
          if (stop?.type !== 'requires_action') return;
          const { frames } = await server.log(session);
          for (const id of stop.event_ids.filter((each) => !decided.has(each))) {
            decided.add(id);
            const use = frames.find(
              ({ type, payload }) => type === 'agent.tool_use' && 'id' in payload && payload.id === id,
            );
            const isWanted = JSON.stringify(use?.payload).includes('by-child');
            const answer = isWanted ? { result: 'allow' } : { result: 'deny', deny_message: 'Not this one.' };
            await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, ...answer });
          }
        });
        expect(decided.size).toBe(2);
        expect(await server.files(session)).toEqual(['by-child']);
        const { frames, problems } = await server.log(session);
        expect(problems).toEqual([]);
        const results = frames.flatMap((frame) => (frame.type === 'agent.tool_result' ? [frame.payload] : []));
        expect(results.filter(({ is_error: isError }) => isError)).toMatchObject([
          { content: [{ text: 'Not this one.' }] },
        ]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[CX33] an interrupt ends a command with its turn, and the session goes on with the next message',
    async () => {
      await withCodexServer(async (server) => {
        const session = await server.createSession({ model: 'codex/gpt-5.5' });
        const turns = script([directWords.bash('touch begun; exec tail -f /dev/null')], [{ say: 'Next.' }]);
        await server.watch(
          session,
          () => server.say(session, `Go. ${turns}`),
          ({ type }) => type === 'agent.tool_use',
        );
        await vi.waitFor(async () => expect(await server.files(session)).toEqual(['begun']), 60_000);
        const events = await server.watch(
          session,
          () => server.send(session, { type: 'user.interrupt' }),
          ({ type }) => type === 'session.status_idle',
        );
        expect(events.map(({ type }) => type)).toContain('agent.tool_result');
        await vi.waitFor(() => expect(countCommands(server.directory)).toBe(0), 60_000);
        expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Next.']);
        expect((await server.log(session)).problems).toEqual([]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[CX34] a session goes on with its conversation after a restart of the server, and its files go with it',
    async () => {
      await withCodexServer(async (server) => {
        const session = await server.createSession({ model: 'codex/gpt-5.5' });
        await server.run(session, `Begin. ${script([{ say: 'First.' }], [{ say: 'Second.' }])}`);
        await server.restart();
        expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Second.']);
        expect((await server.log(session)).problems).toEqual([]);
        const homes = join(server.directory, 'program-homes');
        expect(await readdir(homes)).toEqual([session]);
        await server.client.beta.sessions.delete(session);
        await vi.waitFor(async () => expect(await readdir(homes)).toEqual([]), 60_000);
        expect(findProcesses(server.directory)).toEqual([]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[CX42] an approval that is pending when the server restarts is withdrawn, its call is not run, and the next message works',
    async () => {
      await withCodexServer(async (server) => {
        const session = await server.createSession({ model: 'codex/gpt-5.5', tools: [toolset('always_ask')] });
        const turns = script([directWords.bash('touch asked')], [{ say: 'Next.' }]);
        await server.watch(
          session,
          () => server.say(session, `Go. ${turns}`),
          (event) => event.type === 'session.status_idle' && event.stop_reason.type === 'requires_action',
        );
        await server.restart();
        // The end of the recovered turn must not count as the end of the next one.
        const types = async () => (await server.log(session)).frames.map(({ type }) => type);
        await expect.poll(types).toContain('agent.tool_result');
        expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Next.']);
        expect(await server.files(session)).toEqual([]);
        const { frames, problems } = await server.log(session);
        expect(problems).toEqual([]);
        const results = frames.flatMap((frame) => (frame.type === 'agent.tool_result' ? [frame.payload.is_error] : []));
        expect(results).toEqual([true]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[CX35] a fork continues with the history until its turn, and both sessions continue independently',
    async () => {
      await withCodexServer(async (server) => {
        const session = await server.createSession({ model: 'codex/gpt-5.5' });
        const turns = ['One.', 'Two: {{find:Remember (\\w+)}}.', 'Three.'].map((say) => [{ say }]);
        await server.run(session, `Remember apples. ${script(...turns)}`);
        const fork = await server.fork(session);
        expect(textsOf(await server.run(fork, 'And now?'))).toEqual(['Two: apples.']);
        expect(textsOf(await server.run(session, 'And now?'))).toEqual(['Two: apples.']);
        expect(textsOf(await server.run(fork, 'And then?'))).toEqual(['Three.']);
        for (const id of [session, fork]) expect((await server.log(id)).problems).toEqual([]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it.each(worlds)(
    '[CX36] custom tools of the main agent and of a sub-agent are called on their threads, and the client sends the results ($model)',
    async ({ model, words }) => {
      await withCodexServer(async (server) => {
        const worker = { name: 'worker', model, tools: [lookup] };
        const session = await server.createSession({
          model,
          tools: [toolset('always_allow'), lookup],
          roster: [worker],
        });
        const child = script(
          [words.custom('lookup', { word: 'deep' })],
          [{ expect: { tool_result: 'deep means' } }, { say: 'Found.' }],
        );
        const turns = script(
          [words.custom('lookup', { word: 'flat' })],
          [{ expect: { tool_result: 'flat means' } }, words.delegate('worker', 'look', `Go. ${child}`)],
          [{ say: 'Done.' }],
        );
        const threads: (string | undefined)[] = [];
        await server.run(session, `Go. ${turns}`, async (event) => {
          if (event.type !== 'agent.custom_tool_use') return;
          threads.push(event.session_thread_id ?? undefined);
          const content = [{ type: 'text', text: `${String(event.input['word'])} means something` }];
          await server.send(session, { type: 'user.custom_tool_result', custom_tool_use_id: event.id, content });
        });
        const [kid] = (await server.threads(session)).filter(({ parent_thread_id: parent }) => parent !== null);
        expect(threads).toEqual([undefined, kid?.id]);
        expect(textsOf(await server.threadEvents(session, kid!.id))).toEqual(['Found.']);
        expect((await server.log(session)).problems).toEqual([]);
      });
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[CX39] AGENTS.md of the workspace reaches the model and is reported with the settings `project`, and not without them',
    async () => {
      const tested = await openCodexPrograms(path, 'codex/gpt-5.5');
      try {
        const file = join(tested.directory, 'AGENTS.md');
        await writeFile(file, 'Remember the pear.');
        const look = `Go. ${script([{ say: 'Read: {{find:Remember the (\\w+)}}.' }])}`;
        for (const [settings, said, instructions] of [
          ['none', 'Read: .', []],
          ['project', 'Read: pear.', [[file]]],
        ] as const) {
          const { program, events, ask } = await converse(tested, { settings });
          await ask(look);
          await program.close();
          expect([settings, textsOfEvents(events)]).toEqual([settings, [said]]);
          const loaded = events.flatMap((event) => (event.type === 'settings_loaded' ? [event.instructions] : []));
          expect([settings, loaded]).toEqual([settings, instructions]);
        }
      } finally {
        await tested.close();
      }
    },
    PROGRAM_TEST_MS,
  );

  it(
    '[CX37] tools of an MCP server are called as the definition says: without asking, after an approval, or not at all',
    async () => {
      const mcp = await serveMcp();
      await withCodexServer(
        async (server) => {
          for (const [policy, isCalled] of [
            ['always_allow', true],
            ['always_ask', true],
            ['none', false],
          ] as const) {
            mcp.calls.length = 0;
            const config = {
              enabled: policy !== 'none',
              permission_policy: { type: policy === 'none' ? 'always_ask' : policy },
            };
            const tools = [
              toolset('always_allow'),
              { type: 'mcp_toolset', mcp_server_name: 'desk', default_config: config },
            ];
            const servers = [{ type: 'url', name: 'desk', url: mcp.url }];
            const session = await server.createSession({ model: 'codex/gpt-5.5', tools, mcp_servers: servers });
            const turns = script([{ call: 'mcp__desk.echo', input: {} }], [{ say: 'Over.' }]);
            let asked = 0;
            const events = await server.run(session, `Go. ${turns}`, async (event) => {
              const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
              if (stop?.type !== 'requires_action') return;
              asked += stop.event_ids.length;
              expect(mcp.calls).toEqual([]);
              for (const id of stop.event_ids) {
                await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' });
              }
            });
            expect([policy, asked]).toEqual([policy, policy === 'always_ask' ? 1 : 0]);
            expect([policy, mcp.calls.length > 0]).toEqual([policy, isCalled]);
            expect([policy, textsOf(events).at(-1)]).toEqual([policy, 'Over.']);
          }
        },
        { allowedPrivateHosts: ['127.0.0.1'] },
      );
    },
    PROGRAM_TEST_MS,
  );

  async function withCodexServer(
    run: (server: ClaudeServer) => Promise<void>,
    options: Partial<ServerOptions> = {},
  ): Promise<void> {
    const choice = {
      program: path,
      // Without a key of OpenAI the scripted model answers.
      environment: { PATH: process.env['PATH'] },
      workspaces: ['wrkspc_default'],
      isUnsandboxed: noSandbox !== undefined,
    };
    await withServer((test) => run(new ClaudeServer(test)), { programs: { codex: choice }, ...options });
  }
});

/** The commands of the test that still run. */
function countCommands(directory: string): number {
  const isTail = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('tail\0');
  return findProcesses(directory).filter(isTail).length;
}
