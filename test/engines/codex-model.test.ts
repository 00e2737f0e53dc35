import { expect, it } from 'vitest';
import { describeWithProgram } from '../support/programs.ts';
import { type CodexRun, runCodex } from '../support/run-codex.ts';

describeWithProgram('codex', 'the scripted model', ({ path }) => {
  const run = (script: object, model?: string): Promise<CodexRun> => runCodex(path, script, model);

  it('[K75] answers a prompt with a thought, two shell commands and their results', async () => {
    const turns = [
      [
        { think: 'Let me look.' },
        { say: 'I run two commands.' },
        { call: 'exec_command', input: { cmd: 'echo from the first' } },
        { call: 'exec_command', input: { cmd: 'echo from the second' } },
      ],
      [{ expect: { tool_result: ['from the first', 'from the second'] } }, { say: 'Done: {{n}}.' }],
    ];
    const { items, last } = await run({ turns });
    expect(items.filter(({ type }) => type !== 'command_execution')).toMatchObject([
      { type: 'reasoning', text: 'Let me look.' },
      { type: 'agent_message', text: 'I run two commands.' },
      { type: 'agent_message', text: 'Done: 2.' },
    ]);
    const outputs = items.flatMap((item) => (item.type === 'command_execution' ? [item.aggregated_output] : []));
    // They run at the same time.
    expect(new Set(outputs)).toEqual(new Set(['from the first\n', 'from the second\n']));
    expect(last).toMatchObject({ type: 'turn.completed', usage: { reasoning_output_tokens: 3 } });
  });

  it('[K75] recovers from a 500, a cut stream and a failure in the stream, each attempt counted', async () => {
    const turn = [
      { fail: { status: 500 } },
      { think: 'Hm.' },
      { say: 'half ' },
      { cut: { times: 1 } },
      { say: 'whole' },
      { fail: { status: 500, message: 'Broken', in_stream: true } },
    ];
    const { items, last } = await run({ turns: [turn, [{ say: 'never' }]] });
    const texts = items.flatMap((item) => (item.type === 'agent_message' ? [item.text] : []));
    expect(texts.slice(-2)).toEqual(['half ', 'whole']);
    expect(texts).not.toContain('never');
    expect(last).toMatchObject({ type: 'turn.completed' });
  });

  it('[K75] fails a turn with the reason of the script', async () => {
    const fail = { status: 400, type: 'context_length_exceeded', message: 'Too long', times: 9, in_stream: true };
    const { last } = await run({ turns: [[{ say: 'so far' }, { fail }]] });
    expect(last).toMatchObject({ type: 'turn.failed', error: { message: expect.stringContaining('context window') } });
  });

  it('[K75] calls tools that take a text: a patch, and code in code mode', async () => {
    const patch = '*** Begin Patch\n*** Add File: note.txt\n+from a patch\n*** End Patch\n';
    const patched = await run({ turns: [[{ call: 'apply_patch', input: patch }], [{ say: 'Patched.' }]] });
    expect(patched.items).toMatchObject([
      { type: 'file_change', changes: [{ kind: 'add' }], status: 'completed' },
      { type: 'agent_message', text: 'Patched.' },
    ]);
    const code = 'const { output } = await tools.exec_command({ cmd: "echo from code" }); text(output);';
    const turns = [[{ call: 'exec', input: code }], [{ expect: { tool_result: 'from code' } }, { say: 'Ran.' }]];
    const coded = await run({ turns }, 'gpt-6.1-sol');
    expect(coded.items).toMatchObject([
      { type: 'command_execution', aggregated_output: 'from code\n' },
      { type: 'agent_message', text: 'Ran.' },
    ]);
  });

  it('[K75] starts agents in both of its generations, each on the script in its own message', async () => {
    const message = 'Look. <script>{"turns":[[{"say":"the child was here"}]]}</script>';
    const first = [
      [{ call: 'multi_agent_v1.spawn_agent', input: { message } }],
      [
        {
          call: 'multi_agent_v1.wait_agent',
          input: { targets: ['{{find:"agent_id":"([^"]+)"}}'], timeout_ms: 20_000 },
        },
      ],
      [{ expect: { tool_result: 'the child was here' } }, { say: 'Done.' }],
    ];
    expect((await run({ turns: first })).items.at(-1)).toMatchObject({ type: 'agent_message', text: 'Done.' });
    const input = { task_name: 'child', fork_turns: 'none', message };
    const second = [
      [{ call: 'collaboration.spawn_agent', input }],
      [{ call: 'collaboration.wait_agent', input: { timeout_ms: 20_000 } }],
      [{ expect: { contains: 'Payload:\nthe child was here' } }, { say: 'Done.' }],
    ];
    const { items } = await run({ turns: second }, 'gpt-6.1-sol');
    expect(items.at(-1)).toMatchObject({ type: 'agent_message', text: 'Done.' });
  });

  it('[K73] the last user text is the prompt, without the texts that the program adds', async () => {
    const { items } = await run({ turns: [[{ say: 'Heard: {{last_user}}' }]] });
    expect(items).toMatchObject([{ type: 'agent_message', text: 'Heard: Look around.' }]);
  });
});
