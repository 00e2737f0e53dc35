import { check, defineChecks } from '../harness/check.ts';
import { expectEqual } from '../harness/expect.ts';
import { ofType } from '../harness/talk.ts';

export const fileChecks = defineChecks('Workers, files, helpers of the SDK', [
  check(166, 'E', 'Files that a session puts out are listed under its id', ['scripts'], async (t) => {
    const talk = await t.session({
      turns: [[{ call: 'write', input: { file_path: '/mnt/session/outputs/out.txt', content: 'x' } }], [{ say: 'ok' }]],
      tools: [{ type: 'agent_toolset_20260401' }] as never,
    });
    const events = await talk.turn('go');
    expectEqual(
      ofType(events, 'agent.tool_result').map(({ is_error }) => is_error),
      [false],
      'the result',
    );
    const names: string[] = [];
    for await (const file of t.client.beta.files.list({ scope_id: talk.id })) names.push(file.filename);
    expectEqual(names, ['out.txt'], 'files');
    const uploaded = await t.client.beta.files.upload({
      file: new File(['facts'], 'facts.txt', { type: 'text/plain' }),
    });
    const resource = { type: 'file', file_id: uploaded.id } as const;
    const other = await t.session({ create: { resources: [resource] as never } });
    const [mounted] = other.created.resources as unknown as { file_id: string }[];
    expectEqual(mounted?.file_id, uploaded.id, 'the file of another session');
    await t.client.beta.files.delete(uploaded.id);
  }),
]);
