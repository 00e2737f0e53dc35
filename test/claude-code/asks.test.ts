import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call } from '../../packages/cli/test-support/live-io.ts';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import {
  bash,
  type ClaudeServer,
  delegate,
  type SessionEvent,
  textsOf,
  toolset,
  withClaudeServer,
} from './claude-server.ts';

// When the real program asks, what it shows then, and what can be answered, through the official client.
await describeWithClaudeCode('approvals of the real program', ({ path }) => {
  it('[J221] calls that the program refuses in the mode `dontAsk`, questions too, and unknown tools never wait', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ tools: [toolset('always_ask')] });
      await server.client.beta.sessions.update(session, { metadata: { 'claude_code.permission_mode': 'dontAsk' } });
      const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
      const questions = [{ question: 'Which colour?', header: 'Colour', options, multiSelect: false }];
      const calls = [bash('touch refused'), { call: 'AskUserQuestion', input: { questions } }, { call: 'NoSuchTool' }];
      const events = await server.run(session, `Go. ${script(calls, [{ say: 'Well.' }])}`);
      expect(textsOf(events)).toEqual(['Well.']);
      expect(await approvalsOf(server, session)).toEqual([]);
      expect(events.filter(isRequiringAction)).toEqual([]);
      const results = events.filter(({ type }) => type === 'agent.tool_result');
      expect(results).toMatchObject([{ is_error: true }, { is_error: true }, { is_error: true }]);
      expect(await server.files(session)).toEqual([]);
      const [use] = events.flatMap((event) => (event.type === 'agent.tool_use' ? [event] : []));
      const late = server.send(session, { type: 'user.tool_confirmation', tool_use_id: use!.id, result: 'allow' });
      await expect(late).rejects.toThrow(/was decided by the program, which did not ask/);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J225, J226, Y122] a plan waits for a person although everything is allowed; denied it is planned again, allowed it is executed', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      await server.client.beta.sessions.update(session, { metadata: { 'claude_code.permission_mode': 'plan' } });
      const turns = script(
        [plan('# First\n\n1. Delete it')],
        [{ expect: { tool_result: 'Keep the file.' } }, plan('# Second\n\n1. Keep it')],
        [plan('# Third')],
        // It has left plan mode, in which it was after the denial.
        [{ expect: { tool_result: 'You are not in plan mode', is_error: true } }, bash('touch kept')],
        [{ say: 'Done.' }],
      );
      const printed: string[][] = [];
      const answers = [{ result: 'deny', deny_message: 'Keep the file.' }, { result: 'allow' }];
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        expect(await server.files(session)).toEqual([]);
        const [id] = event.stop_reason.event_ids;
        const env = { FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.key };
        printed.push((await call(['approve', session], { env })).stderr.split('\n').slice(0, 4));
        await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, ...answers.shift() });
      });
      expect(textsOf(events)).toEqual(['Done.']);
      expect(await server.files(session)).toEqual(['kept']);
      const asked = await approvalsOf(server, session);
      expect(asked.map(({ kind }) => kind)).toEqual(['plan', 'plan']);
      const line = expect.stringMatching(/^sevt_\w+ {2}coordinator ExitPlanMode: a plan$/);
      expect(printed[0]).toEqual([line, '    # First', '    ', '    1. Delete it']);
      expect(asked.map(({ input }) => input.plan)).toEqual(['# First\n\n1. Delete it', '# Second\n\n1. Keep it']);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J225] a plan that the program keeps in a file is shown with its text', async () => {
    await withClaudeServer(path, async (server) => {
      // In plan mode the program asks for a command, or refuses it where asking is disabled.
      const session = await server.createSession({ tools: [toolset('always_ask')] });
      await server.client.beta.sessions.update(session, { metadata: { 'claude_code.permission_mode': 'plan' } });
      const turns = script([bash(WRITE_PLAN_FILE)], [{ call: 'ExitPlanMode', input: {} }], [{ say: 'Done.' }]);
      await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        const [id] = event.stop_reason.event_ids;
        await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'allow' });
      });
      const asked = await approvalsOf(server, session);
      expect(asked).toMatchObject([{ kind: 'tool' }, { kind: 'plan', input: { plan: '# From the file' } }]);
      expect((await server.log(session)).problems).toEqual([]);
    });
  }, 120_000);

  it('[J229] in plan mode a call that the mode forbids waits for a person although everything is allowed', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      await server.client.beta.sessions.update(session, { metadata: { 'claude_code.permission_mode': 'plan' } });
      const file = `${server.directory}/workspaces/${session}/written`;
      const turns = script([{ call: 'Write', input: { file_path: file, content: 'x' } }], [{ say: 'Done.' }]);
      await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        const [id] = event.stop_reason.event_ids;
        await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'deny' });
      });
      expect((await approvalsOf(server, session)).map(({ kind }) => kind)).toEqual(['tool']);
      expect(await server.files(session)).toEqual([]);
    });
  }, 120_000);

  it('[J230] tools that run commands are asked for like bash', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ tools: [toolset('always_ask')] });
      const monitor = { command: 'touch monitored', description: 'It', timeout_ms: 1_000, persistent: false };
      const turns = script(
        [{ call: 'Monitor', input: monitor }],
        [{ call: 'EnterWorktree', input: { name: 'other' } }],
        [{ say: 'Done.' }],
      );
      await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        const [id] = event.stop_reason.event_ids;
        await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'deny' });
      });
      const { frames } = await server.log(session);
      const uses = frames.flatMap((frame) => (frame.type === 'agent.tool_use' ? [frame.payload] : []));
      expect(uses.map((use) => use.evaluated_permission)).toEqual(['ask', 'ask']);
      const results = frames.flatMap((frame) => (frame.type === 'agent.tool_result' ? [frame.payload.is_error] : []));
      expect(results).toEqual([true, true]);
      expect(await server.files(session)).toEqual([]);
    });
  }, 120_000);

  it('[J232] JSON that does not map questions to texts answers a question like any other text', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
      const questions = [{ question: 'Which?', header: 'Colour', options, multiSelect: false }];
      const ask = { call: 'AskUserQuestion', input: { questions } };
      const answers = ['{"x":1}', '{"answers":{"Which?":"Blue"}}', '{"Which?":"Red"}', 'Green'];
      const turns = script(...answers.map(() => [ask]), [{ say: 'Done.' }]);
      await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        const [id] = event.stop_reason.event_ids;
        const content = [{ type: 'text', text: answers.shift() }];
        await server.send(session, { type: 'user.custom_tool_result', custom_tool_use_id: id, content });
      });
      expect(answers).toEqual([]);
      // The program writes its transcript a moment after it has printed a line.
      for (const answer of ['Blue', 'Red', 'Green']) {
        await expect.poll(() => readTranscripts(server, session)).toContain(`=\\"${answer}\\"`);
      }
      expect(await readTranscripts(server, session)).not.toContain('failed schema validation');
    });
  }, 120_000);

  it('[J227] of the main agent and of a sub-agent: what is allowed with another input runs with that one', async () => {
    await withClaudeServer(path, async (server) => {
      const tools = [toolset('always_ask')];
      const session = await server.createSession({ tools, roster: [{ name: 'worker', tools }] });
      const child = script([bash('touch shown-by-child')], [{ say: 'Reported.' }]);
      const turns = script([bash('touch shown')], [delegate('worker', 'it', child)], [{ say: 'Done.' }]);
      await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        const [id] = event.stop_reason.event_ids;
        const { input } = (await approvalsOf(server, session)).at(-1)!;
        const updated_input = { ...input, command: input.command!.replace('shown', 'changed') };
        await server.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'allow', updated_input });
      });
      expect(await server.files(session)).toEqual(['changed', 'changed-by-child']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const decided = frames.flatMap((frame) => (frame.type === 'user.tool_confirmation' ? [frame.payload] : []));
      expect(decided.map(({ input_sha256, updated_input_sha256 }) => [input_sha256, updated_input_sha256])).toEqual(
        ['', '-by-child'].map((suffix) => ['shown', 'changed'].map((name) => sha256(`touch ${name}${suffix}`))),
      );
    });
  }, 120_000);

  it('[J228] of the main agent: a denial with an interrupt ends the turn, and the session takes the next message', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ tools: [toolset('always_ask')] });
      const turns = script([bash('touch a')], [{ say: 'Here.' }]);
      const first = await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        const [id] = event.stop_reason.event_ids;
        const denial = { type: 'user.tool_confirmation', tool_use_id: id, result: 'deny', interrupt: true };
        await server.send(session, denial);
      });
      expect(textsOf(first)).toEqual([]);
      const second = await server.run(session, 'Go on.');
      expect(textsOf(second)).toEqual(['Here.']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const ends = frames.flatMap((frame) => (frame.type === 'turn.ended' ? [frame.payload.stop_reason] : []));
      expect(ends).toEqual(['cancelled', 'end_turn']);
    });
  }, 120_000);

  it('[J228] of a sub-agent: a denial with an interrupt ends its turn, and the main agent continues', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession({ roster: [{ name: 'worker', tools: [toolset('always_ask')] }] });
      const child = script([bash('touch a')], [{ say: 'Never.' }]);
      const turns = script([delegate('worker', 'it', child)], [{ say: 'I go on.' }]);
      const events = await server.run(session, `Go. ${turns}`, async (event) => {
        if (!isRequiringAction(event)) return;
        const [id] = event.stop_reason.event_ids;
        const denial = { type: 'user.tool_confirmation', tool_use_id: id, result: 'deny', interrupt: true };
        await server.send(session, denial);
      });
      expect(textsOf(events)).toEqual(['I go on.']);
      const { frames, problems } = await server.log(session);
      expect(problems).toEqual([]);
      const ends = frames.flatMap((frame) => (frame.type === 'turn.ended' ? [frame.payload.stop_reason] : []));
      expect(ends).toEqual(['cancelled', 'end_turn']);
    });
  }, 120_000);
});

/** The program names the file to the model; a script finds the name in the transcript. */
const WRITE_PLAN_FILE = [
  // The program writes its transcript a moment after it has read the prompt.
  `for i in $(seq 100); do file=$(grep -rohE '/[^" ]+/plans/[a-z0-9-]+[.]md' "\${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects" | head -n 1); [ -n "$file" ] && break; sleep 0.1; done`,
  'mkdir -p "$(dirname "$file")"',
  `printf '# From the file' > "$file"`,
].join('; ');

type Requiring = Extract<SessionEvent, { type: 'session.status_idle' }> & {
  readonly stop_reason: { readonly type: 'requires_action'; readonly event_ids: readonly string[] };
};

function isRequiringAction(event: SessionEvent): event is Requiring {
  return event.type === 'session.status_idle' && event.stop_reason.type === 'requires_action';
}

function plan(text: string): object {
  return { call: 'ExitPlanMode', input: { plan: text } };
}

interface Asked {
  readonly kind: string;
  readonly input: { readonly plan?: string; readonly command?: string };
}

/** What was asked for, as the log has it. */
async function approvalsOf(server: ClaudeServer, session: string): Promise<Asked[]> {
  const { frames } = await server.log(session);
  const inputs = new Map(
    frames.flatMap((frame) => (frame.type === 'agent.tool_use' ? [[frame.payload.id, frame.payload.input]] : [])),
  );
  return frames.flatMap((frame) => {
    if (frame.type !== 'approval.requested') return [];
    const { kind, tool_use_id: id, input = inputs.get(id) } = frame.payload;
    // The scripts above make no other inputs.
    return [{ kind, input: input as Asked['input'] }];
  });
}

function sha256(command: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ command, description: 'Does it' }))
    .digest('hex');
}

/** All that the program has written down of the session. */
async function readTranscripts(server: ClaudeServer, session: string): Promise<string> {
  const home = join(server.directory, 'program-homes', session, '.claude', 'projects');
  const paths = (await readdir(home, { recursive: true })).filter((path) => path.endsWith('.jsonl'));
  return (await Promise.all(paths.map((path) => readFile(join(home, path), 'utf8')))).join('');
}
