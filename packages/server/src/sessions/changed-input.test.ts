import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { confirm, delegates, lead, message, openFleet, result, solo } from './suite/fleet.suite.ts';

// What a decision can contain beside allow and deny, in sessions of model engines.

const asking = { kind: 'builtin' as const, permission: 'ask' as const };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

it('[R320] a call that is allowed with another input runs with that one, and the log keeps both', async () => {
  const ran: unknown[] = [];
  const bash = { ...asking, run: (input: unknown) => (ran.push(input), result('ok')) };
  const fleet = await openFleet({ tools: { bash } });
  const input = { command: 'rm -rf build' };
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash', input }], [{ say: 'Done.' }]] });
  const { seq } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  const updated_input = { command: 'rm -r build/cache' };
  await fleet.send(id, { ...confirm(ask!), updated_input });
  await fleet.rest(id, seq);
  expect(ran).toEqual([updated_input]);
  expect(await fleet.payloads(id, 'agent.tool_use')).toMatchObject([{ input }]);
  expect(await fleet.payloads(id, 'user.tool_confirmation')).toMatchObject([
    {
      input_sha256: sha256('{"command":"rm -rf build"}'),
      updated_input,
      updated_input_sha256: sha256('{"command":"rm -r build/cache"}'),
    },
  ]);
});

it('[R321] in a self-hosted environment an input cannot be changed: 400 `input_not_changeable`, and the call still waits', async () => {
  const fleet = await openFleet({ tools: { bash: asking } });
  const environment = { id: 'env_1', type: 'self_hosted' as const };
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'Done.' }]] }, { environment });
  await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  const changed = fleet.send(id, { ...confirm(ask!), updated_input: { command: 'ls' } });
  await expect(changed).rejects.toMatchObject({ code: 'input_not_changeable', kind: 'caller' });
  expect(await fleet.asks(id)).toEqual([ask]);
});

it('[R322] a denial with an interrupt ends the turn that made the call, and the model reads the reason in the next one', async () => {
  const fleet = await openFleet({ tools: { bash: asking } });
  const turns = [
    [{ call: 'bash' }, { call: 'bash' }],
    [{ expect: { tool_result: 'The user refused this call: Wrong branch.' } }, { say: 'Understood.' }],
  ];
  const id = await fleet.begin(solo, { turns });
  const { seq } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  await fleet.send(id, { ...confirm(ask!, 'deny', 'Wrong branch.'), interrupt: true });
  const { seq: stopped } = await fleet.rest(id, seq);
  expect((await fleet.story(id, seq)).filter((line) => /turn\.ended|request_start|tool_result/.test(line))).toEqual([
    'solo tool_result error',
    'solo tool_result interrupted',
    'solo turn.ended cancelled',
  ]);
  await fleet.send(id, message('And now?'));
  await fleet.rest(id, stopped);
  expect(await fleet.payloads(id, 'agent.message')).toMatchObject([{ content: [{ text: 'Understood.' }] }]);
});

it('[R322] a denial with an interrupt of a child ends the turn of the child, and its coordinator continues', async () => {
  const fleet = await openFleet({ tools: { bash: asking } });
  const id = await fleet.begin(lead, {
    turns: [[delegates({ turns: [[{ call: 'bash' }], [{ say: 'Never.' }]] })], [{ say: 'Done.' }]],
  });
  const { seq } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  await fleet.send(id, { ...confirm(ask!, 'deny'), interrupt: true });
  await fleet.rest(id, seq);
  expect((await fleet.story(id, seq)).filter((line) => line.includes('turn.ended'))).toEqual([
    'worker turn.ended cancelled',
    'lead turn.ended end_turn',
  ]);
});
