import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../packages/cli/test-support/fleet-server.ts';
import { call } from '../../packages/cli/test-support/live-io.ts';
import { describeWithProgram } from '../support/programs.ts';
import { runCodex } from '../support/run-codex.ts';

describeWithProgram('codex', 'fleetloom import', ({ path }) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  it('[Y158] a session of the real program is imported as the program has printed it, once', async () => {
    const turns = [
      [
        { think: 'Where to begin?' },
        { say: 'I look.' },
        { call: 'exec_command', input: { cmd: 'echo from the shell' } },
      ],
      [{ say: 'That is all.' }],
    ];
    const { items, home } = await runCodex(path, { turns });
    const args = ['import', '--from', 'codex', '--config', home, '--all', '--json'];
    const first = await call(args, { env: server.env });
    expect([first.code, first.stderr]).toEqual([0, '']);
    const { session_id: id, taken } = JSON.parse(first.stdout) as { session_id: string; taken: number };
    expect(taken).toBeGreaterThan(0);

    const { data } = await server.get<{ data: Event[] }>(`/v1/sessions/${id}/events?limit=1000`);
    const textsOf = (type: string) =>
      data.flatMap((event) => (event.type === type ? (event.content ?? []).map(({ text }) => text ?? '') : []));
    const printed = items.flatMap((item) => (item.type === 'agent_message' ? [item.text] : []));
    expect(printed).toEqual(['I look.', 'That is all.']);
    expect(textsOf('agent.message')).toEqual(printed);
    expect(textsOf('user.message')).toEqual([expect.stringMatching(/^Look around\. /)]);
    expect(textsOf('agent.tool_result')).toEqual([expect.stringContaining('from the shell')]);
    expect(data.filter(({ type }) => type === 'agent.thinking')).toHaveLength(1);
    expect(data.filter(({ type }) => type === 'session.error')).toEqual([]);

    const again = await call(args, { env: server.env });
    expect(JSON.parse(again.stdout)).toMatchObject({ session_id: id, taken: 0, unreadable_lines: 0 });
  });
});

interface Event {
  readonly type: string;
  readonly content?: readonly { readonly text?: string }[];
}
