import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type UserRepository, withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';
import type { Api } from './api.ts';
import { type Dashboard, openDashboard } from './open-dashboard.ts';
import { untilIdle } from './small-fleet.ts';

/** Writes a file, as a call of the script. */
export const write = (path: string, content: string) => ({ call: 'write', input: { file_path: path, content } });
/** Runs a command, as a call of the script. */
export const bash = (command: string) => ({ call: 'bash', input: { command } });
/** Ends a turn. */
export const done = [{ say: 'done' }];

/** Runs with a dashboard whose server allows the repository of a user. */
export async function withChanges(run: (dashboard: Dashboard, user: UserRepository) => Promise<void>): Promise<void> {
  await withRepository(async (user) => {
    const dashboard = await openDashboard({ allowedDirectories: [user.root] });
    await run(dashboard, user);
    // The repository is removed first: no request may read it then.
    await dashboard.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    await dashboard.page.goto('about:blank');
  });
}

/** An agent that plays a script without approvals. */
export async function createScripted(
  api: Api,
  name: string,
  turns: Turns,
  members: readonly string[] = [],
): Promise<string> {
  const script = JSON.stringify({ turns }).replaceAll('<', '\\u003c');
  const agent = await api.post('/v1/agents', {
    name,
    model: 'scripted/test',
    system: `<script>${script}</script>`,
    tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_allow' } } }],
    ...(members.length === 0 ? {} : { multiagent: { type: 'coordinator', agents: [...members] } }),
  });
  return agent.id;
}

/** The steps of the agent, one list for each model request. */
export type Turns = readonly (readonly object[])[];

/** A session on a directory, without a message yet. */
export async function createSession(
  api: Api,
  path: string,
  turns: Turns,
  members: readonly string[] = [],
): Promise<string> {
  const agent = await createScripted(api, 'coder', turns, members);
  const environment = await api.post('/v1/environments', { name: 'here' });
  const resources = [{ type: 'directory', path }];
  const session = await api.post('/v1/sessions', { agent, environment_id: environment.id, title: 'Coding', resources });
  return session.id;
}

/** Sends a message without waiting for its run. */
export async function say(api: Api, sessionId: string): Promise<void> {
  await api.send(sessionId, { type: 'user.message', content: [{ type: 'text', text: 'Go.' }] });
}

/** A session whose first run has ended. */
export async function startDone(api: Api, path: string, turns: Turns): Promise<string> {
  const id = await createSession(api, path, turns);
  await say(api, id);
  await untilIdle(api, id);
  return id;
}

/** Opens the Changes tab of a session that has changed files. */
export async function openChanges(page: Page, sessionId: string): Promise<void> {
  await page.evaluate(`location.hash = '#/session/${sessionId}?tab=changes'`);
  await page.getByRole('group', { name: 'Files of the session' }).waitFor();
}

/** Goes back in the replay, event by event, until a text is shown. */
export async function stepBackTo(page: Page, text: string): Promise<void> {
  const moment = page.locator('.scrubber-time');
  for (let step = 0; step < 60 && !(await page.getByText(text).isVisible()); step++) {
    const before = await moment.textContent();
    await page.keyboard.press('[');
    await expect.poll(() => moment.textContent()).toMatch(/event \d+/);
    await expect.poll(() => moment.textContent()).not.toBe(before);
    // The tab waits 120 ms for further steps before it loads.
    await page.waitForTimeout(150);
    await page.locator('.changes[aria-busy=true]').waitFor({ state: 'detached' });
  }
  await page.getByText(text).waitFor();
}
