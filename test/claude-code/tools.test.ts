import { expect, it } from 'vitest';
import { serveMcp } from '../../packages/server/src/tools/mcp/mcp-server.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, delegate, type SessionEvent, textsOf, toolset, withClaudeServer } from './claude-server.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';

const lookup = {
  type: 'custom',
  name: 'lookup',
  description: 'Looks a word up',
  input_schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};

await describeWithClaudeCode('tools of the real program', ({ path }) => {
  it('[J60] a custom tool is called by its own name on the thread of its caller, and the client sends the result', async () => {
    await withClaudeServer(path, async (server) => {
      const worker = { name: 'worker', tools: [lookup] };
      const session = await server.createSession({ tools: [toolset('always_allow'), lookup], roster: [worker] });
      const call = (word: string) => ({ call: 'mcp__fleetloom__lookup', input: { word } });
      const child = script([call('deep')], [{ expect: { tool_result: 'deep means far down' } }, { say: 'Found it.' }]);
      const turns = script(
        [call('flat'), delegate('worker', 'look', child)],
        [{ expect: { tool_result: 'flat means even' } }, { say: 'Both found.' }],
      );
      const calls: SessionEvent[] = [];
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        if (event.type !== 'agent.custom_tool_use') return;
        calls.push(event);
        const text = event.input['word'] === 'deep' ? 'deep means far down' : 'flat means even';
        const content = [{ type: 'text', text }];
        await server.send(session, { type: 'user.custom_tool_result', custom_tool_use_id: event.id, content });
      });
      expect(calls).toHaveLength(2);
      expect(calls.every((event) => event.type === 'agent.custom_tool_use' && event.name === 'lookup')).toBe(true);
      const ofChild = calls.find((event) => 'input' in event && event.input['word'] === 'deep');
      const [child1] = (await server.threads(session)).filter(({ parent_thread_id: parent }) => parent !== null);
      expect(ofChild).toMatchObject({ session_thread_id: child1?.id });
      expect(textsOf(events)).toEqual(['Both found.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J61] a question of the program is a custom tool, and what the client says is the answer', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
      const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }];
      const turns = script(
        [{ call: 'AskUserQuestion', input: { questions } }],
        [{ expect: { tool_result: 'Blue' } }, { say: 'Blue it is.' }],
      );
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        if (event.type !== 'agent.custom_tool_use') return;
        expect(event).toMatchObject({ name: 'AskUserQuestion', input: { questions } });
        const content = [{ type: 'text', text: 'Blue' }];
        await server.send(session, { type: 'user.custom_tool_result', custom_tool_use_id: event.id, content });
      });
      expect(textsOf(events)).toEqual(['Blue it is.']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it("[J62] the MCP servers of the agent are the program's, and its policies hold for their tools", async () => {
    const mcp = await serveMcp();
    await withClaudeServer(
      path,
      async (server) => {
        const servers = [{ type: 'url', name: 'desk', url: mcp.url }];
        const asked = { default_config: { permission_policy: { type: 'always_ask' } } };
        const mcpTools = { type: 'mcp_toolset', mcp_server_name: 'desk', ...asked };
        const session = await server.createSession({
          tools: [toolset('always_allow'), mcpTools],
          mcp_servers: servers,
        });
        const turns = script([{ call: 'mcp__desk__echo', input: {} }], [{ say: 'It said: {{last_result}}' }]);
        const events = await server.run(session, `Go. ${turns}`, async (event) => {
          if (event.type !== 'agent.mcp_tool_use') return;
          expect(event).toMatchObject({ name: 'echo', mcp_server_name: 'desk', evaluated_permission: 'ask' });
          expect(mcp.calls).toEqual([]);
          await server.send(session, { type: 'user.tool_confirmation', tool_use_id: event.id, result: 'allow' });
        });
        expect(textsOf(events)).toEqual(['It said: ran echo']);
        expect(mcp.calls).toMatchObject([{ name: 'echo' }]);
        expect((await server.log(session)).problems).toEqual([]);
      },
      { allowedPrivateHosts: ['127.0.0.1'] },
    );
  }, 120_000);

  it('[J64] an MCP server that cannot be reached is reported, and the program continues without it', async () => {
    await withClaudeServer(path, async (server) => {
      const servers = [{ type: 'url', name: 'gone', url: 'http://127.0.0.1:9/mcp' }];
      const tools = [toolset('always_allow'), { type: 'mcp_toolset', mcp_server_name: 'gone' }];
      const session = await server.createSession({ tools, mcp_servers: servers });
      const events = await server.run(session, `Go. ${script([{ say: 'Here.' }])}`);
      // It may still be trying when the first turn begins.
      for (let turn = 0; turn < 20 && !events.some(({ type }) => type === 'session.error'); turn++) {
        events.push(...(await server.run(session, 'And now?')));
      }
      events.push(...(await server.run(session, 'And now?')));
      expect(new Set(textsOf(events))).toEqual(new Set(['Here.']));
      const errors = events.filter(({ type }) => type === 'session.error');
      const message = expect.stringMatching(/cannot reach gone: 127\.0\.0\.1:9 is not on the public internet/);
      const error = { type: 'mcp_connection_failed_error', mcp_server_name: 'gone', message };
      expect(errors).toMatchObject([{ error }]);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J63] a tool that the definition does not have is not run, for any caller', async () => {
    await withClaudeServer(path, async (server) => {
      const reading = {
        type: 'agent_toolset_20260401',
        default_config: { enabled: false },
        configs: [{ name: 'read', enabled: true }],
      };
      const session = await server.createSession({
        tools: [toolset('always_allow')],
        roster: [{ name: 'reader', tools: [reading] }],
      });
      const child = script([bash('touch by-reader')], [{ say: 'I could not.' }]);
      await server.run(
        session,
        `Go. ${script([bash('touch by-main'), delegate('reader', 'read', child)], [{ say: 'Done.' }])}`,
      );
      expect(await server.files(session)).toEqual(['by-main']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const uses = frames.filter(({ type, payload }) => type === 'agent.tool_use' && payload.name === 'Bash');
      const permissions = uses.map(({ payload }) => 'evaluated_permission' in payload && payload.evaluated_permission);
      expect(permissions).toEqual(['allow', 'deny']);
    });
  }, 120_000);
});
