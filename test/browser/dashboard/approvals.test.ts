import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { toChoice, toolset } from '../../claude-code/claude-server.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { createAgent, startSession, untilIdle } from './small-fleet.ts';

useBrowser();

it('[Z351] an input is edited as JSON, invalid JSON cannot be sent, and the call runs with the edited input', async () => {
  const { page, api, workspaceOf, complaints } = await openDashboard();
  const write = { call: 'write', input: { file_path: 'a.txt', content: 'shown' } };
  const sessionId = await startSession(api, await createAgent(api, 'writer', [[write], [{ say: 'Done.' }]]), 'Edit');
  await page.getByRole('link', { name: /Inbox\s*1/ }).click();
  const card = page.getByRole('article');
  await card.getByRole('button', { name: 'Edit and allow' }).click();
  const field = page.getByLabel('Input that the call runs with');
  expect(JSON.parse(await field.inputValue())).toEqual(write.input);
  const send = card.getByRole('button', { name: 'Allow with this input' });
  expect(await send.isDisabled()).toBe(true);
  await field.fill('{"file_path":');
  await card.getByText(/^Not valid JSON/).waitFor();
  expect(await send.isDisabled()).toBe(true);
  await field.fill('{"file_path":"a.txt","content":"changed"}');
  await send.click();
  await untilIdle(api, sessionId);
  const read = () => readFileSync(join(workspaceOf(sessionId), 'a.txt'), 'utf8');
  await vi.waitFor(() => expect(read()).toBe('changed'), 20_000);
  await page.locator('.decided tr', { hasText: 'approved with changes' }).waitFor();
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z352] a denial can end the turn that made the call', async () => {
  const { page, api, complaints } = await openDashboard();
  const write = { call: 'write', input: { file_path: 'a.txt', content: 'x' } };
  const agent = await createAgent(api, 'writer', [[write], [{ say: 'Never.' }]]);
  const sessionId = await startSession(api, agent, 'Deny');
  await page.getByRole('link', { name: /Inbox\s*1/ }).click();
  await page.getByRole('article').waitFor();
  await page.keyboard.press('d');
  await page.getByLabel('Reason (sent to the agent)').fill('Wrong branch.');
  await page.getByRole('button', { name: 'Deny and end the turn' }).click();
  await page.locator('.decided tr', { hasText: 'denied' }).waitFor();
  await untilIdle(api, sessionId);
  expect(await api.events(sessionId, 'agent.message')).toEqual([]);
  expect(await api.events(sessionId, 'user.tool_confirmation')).toMatchObject([{ deny_message: 'Wrong branch.' }]);
  expect(complaints).toEqual([]);
}, 180_000);

await describeWithClaudeCode('a plan of the real program', ({ path }) => {
  it('[Z350] a plan is rendered in the inbox, with its source, and approving it lets the program execute it', async () => {
    const { page, api, complaints } = await openDashboard({ claudeCode: await toChoice(path) });
    const plan = '# The plan\n\n1. **Read** it\n2. Fix it\n\n[hidden]: https://example.com "not rendered"';
    const turns = [[{ call: 'ExitPlanMode', input: { plan } }], [{ say: 'Executed.' }]];
    const system = `<script>${JSON.stringify({ turns })}</script>`;
    const tools = [toolset('always_allow')];
    const agent = await api.post('/v1/agents', { name: 'planner', model: 'claude-code/default', system, tools });
    const environment = await api.post('/v1/environments', { name: 'here' });
    const session = await api.post('/v1/sessions', {
      agent: agent.id,
      environment_id: environment.id,
      metadata: { 'claude_code.permission_mode': 'plan' },
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Begin.' }] }],
    });
    await page.getByRole('link', { name: /Inbox\s*1/ }).click();
    const shown = page.getByRole('region', { name: 'Plan' });
    await shown.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await shown.locator('.markdown li').allTextContents()).toEqual(['Read it', 'Fix it']);
    await shown.getByText('Source').click();
    await shown.getByText('not rendered').first().waitFor();
    await page.getByRole('button', { name: 'Approve once' }).click();
    await vi.waitFor(
      async () =>
        expect(await api.events(session.id, 'agent.message')).toMatchObject([{ content: [{ text: 'Executed.' }] }]),
      60_000,
    );
    expect(complaints).toEqual([]);
  }, 180_000);
});
