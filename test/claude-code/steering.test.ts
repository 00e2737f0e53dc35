import { expect, it } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, toolset, withClaudeServer } from './claude-server.ts';

// What can be changed of a session of the real program, with the words of the official client.
await describeWithClaudeCode('changes of a session of the real program', ({ path }) => {
  it('[J174] its model and its permission mode can be changed at any time, and hold after a restart', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const steer = (metadata: Record<string, string | null>) =>
        server.client.beta.sessions.update(session, { metadata });
      const turns = [
        [{ say: 'One.' }],
        [{ say: 'Two.' }],
        [{ say: 'Three.' }],
        [bash('touch unasked')],
        [{ say: 'Four.' }],
      ];
      await server.run(session, `Go. ${script(...turns)}`);
      await steer({ 'claude_code.model': 'some-other-model' });
      await server.run(session, 'And now?');
      await server.restart();
      await server.run(session, 'And now?');
      await steer({ 'claude_code.model': null, 'claude_code.permission_mode': 'dontAsk' });
      await server.run(session, 'And now?');
      const { frames } = await server.log(session);
      const models = frames.flatMap((frame) => (frame.type === 'span.model_request_end' ? [frame.payload.model] : []));
      const [usual, ...others] = models;
      expect(others).toEqual(['some-other-model', 'some-other-model', usual, usual]);
      expect(usual).not.toBe('some-other-model');
      expect(await server.files(session)).toEqual([]);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J174] policies that are changed while the session is idle hold from the next message on, in the same conversation', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ tools: [toolset('always_ask')] });
      const call = (name: string) => [bash(`touch ${name}`)];
      const turns = script(call('denied'), [{ say: 'One.' }], call('free'), [{ say: 'Two.' }]);
      await server.run(session, `Go. ${turns}`, async (event) => {
        if (event.type !== 'agent.tool_use') return;
        await server.send(session, { type: 'user.tool_confirmation', tool_use_id: event.id, result: 'deny' });
      });
      // The wire is written by hand, and the server checks it.
      const agent = { tools: [toolset('always_allow')] } as never;
      await server.client.beta.sessions.update(session, { agent });
      const events = await server.run(session, 'And now?');
      expect(events.filter(({ type }) => type === 'agent.tool_use')).toMatchObject([{ evaluated_permission: 'allow' }]);
      expect(await server.files(session)).toEqual(['free']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);
});
