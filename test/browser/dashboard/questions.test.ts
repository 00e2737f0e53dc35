import { expect, it, vi } from 'vitest';
import { toChoice, toolset } from '../../claude-code/claude-server.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';

useBrowser();

const questionOf = (question: string, multiSelect = false) => ({
  question,
  header: 'H',
  options: [
    { label: 'Red', description: 'Like fire' },
    { label: 'Blue', description: 'Like the sea' },
  ],
  multiSelect,
});

type Dashboard = Awaited<ReturnType<typeof openDashboard>>;

async function startAsking(api: Dashboard['api'], agent: object, ...questions: object[]): Promise<string> {
  const turns = [[{ call: 'AskUserQuestion', input: { questions } }], [{ say: 'They said {{last_result}}' }]];
  const system = `<script>${JSON.stringify({ turns })}</script>`;
  const { id } = await api.post('/v1/agents', { name: 'curious', system, ...agent });
  const environment = await api.post('/v1/environments', { name: 'here' });
  const session = await api.post('/v1/sessions', {
    agent: id,
    environment_id: environment.id,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Begin.' }] }],
  });
  return session.id;
}

const custom = {
  model: 'scripted/test',
  tools: [{ type: 'custom', name: 'AskUserQuestion', description: 'x', input_schema: { type: 'object' } }],
};

it('[Z357] several questions have their options as buttons and a text field each, and are answered together', async () => {
  const { page, api, complaints } = await openDashboard();
  const sessionId = await startAsking(api, custom, questionOf('Which colour?', true), questionOf('Which shape?'));
  await page.getByRole('link', { name: /Inbox\s*1/ }).click();
  const colour = page.getByRole('group', { name: 'Which colour?' });
  await colour.getByText('Like fire').waitFor();
  const send = page.getByRole('button', { name: 'Send answer' });
  await colour.getByRole('button', { name: 'Red' }).click();
  await colour.getByRole('button', { name: 'Blue' }).click();
  expect(await send.isDisabled()).toBe(true);
  await page.getByRole('group', { name: 'Which shape?' }).getByLabel('Other answer').fill('Round');
  await send.click();
  const answers = JSON.stringify({ 'Which colour?': 'Red, Blue', 'Which shape?': 'Round' });
  await vi.waitFor(
    async () =>
      expect(await api.events(sessionId, 'user.custom_tool_result')).toMatchObject([{ content: [{ text: answers }] }]),
    20_000,
  );
  expect(complaints).toEqual([]);
}, 180_000);

await describeWithClaudeCode('a question of the real program', ({ path }) => {
  it('[Z357] the question is in the inbox with its options, and one click answers it', async () => {
    const { page, api, complaints } = await openDashboard({ claudeCode: await toChoice(path) });
    const agent = { model: 'claude-code/default', tools: [toolset('always_allow')] };
    const sessionId = await startAsking(api, agent, questionOf('Which colour?'));
    await page.getByRole('link', { name: /Inbox\s*1/ }).click();
    await page.getByRole('group', { name: 'Which colour?' }).getByRole('button', { name: 'Blue' }).click();
    await vi.waitFor(
      async () =>
        expect(await api.events(sessionId, 'agent.message')).toMatchObject([
          { content: [{ text: expect.stringMatching(/They said .*Blue/) }] },
        ]),
      60_000,
    );
    await page.getByRole('link', { name: /Inbox\s*$/ }).waitFor();
    expect(complaints).toEqual([]);
  }, 180_000);
});
