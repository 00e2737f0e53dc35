import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { script } from '../../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { type AgentChoice, bash, toolset } from '../../claude-server.ts';
import type { ScenarioRun } from '../scenario-run.ts';

export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAJ0lEQVR4nAXBMQEAAACCMIIZzJNQBnQDDBaHEBMbF6Gmtq7CzOzcPKdjE0EdpVEhAAAAAElFTkSuQmCC';

export const workers = { roster: [{ name: 'worker' }] };
export const asking = { tools: [toolset('always_ask')] };
export const askingWorkers = { roster: [{ name: 'worker', ...asking }] };
export const fails = (times: number, afterS = 0) => ({ fail: { status: 529, times, retry_after_s: afterS } });

export const form = {
  type: 'custom',
  name: 'form',
  description: 'Asks',
  input_schema: { type: 'object', properties: {} },
};
export const fill = { call: 'mcp__fleetloom__form', input: {} };

export function launch(description: string, child: string, agent = 'worker'): object {
  const prompt = `Do ${description}. ${child}`;
  return { call: 'Agent', input: { subagent_type: agent, description, prompt, run_in_background: true } };
}

export function question(text: string, multiSelect = false): object {
  const options = ['Red', 'Blue'].map((label) => ({ label, description: label }));
  return {
    call: 'AskUserQuestion',
    input: { questions: [{ question: text, header: 'Colour', options, multiSelect }] },
  };
}

export function when(cases: Readonly<Record<string, readonly object[]>>, otherwise: readonly object[]): string {
  const all = Object.entries(cases).map(([match, turn]) => ({ match, turn }));
  return `<script>${JSON.stringify({ when: all, else: otherwise }).replaceAll('<', '\\u003c')}</script>`;
}

export function below(name: string, agent: string): object {
  const input = { subagent_type: agent, description: name, prompt: `Do ${name}.`, run_in_background: false };
  return { call: 'Agent', input };
}

export function member(name: string, turns: readonly (readonly object[])[], more: object = {}): AgentChoice {
  return { name, system: `You are ${name}. ${script(...turns)}`, ...more };
}

export const look = [
  [bash(`echo ${PICTURE} | base64 -d > "$PPID.png"; printf %s "$PWD/$PPID.png"`)],
  [{ call: 'Read', input: { file_path: '{{last_result}}' } }],
  [{ think: 'Hm.' }, { say: 'I see it.' }],
];

export async function allowAll(run: ScenarioRun): Promise<void> {
  run.onEvent(async (event) => {
    const stop = event.type === 'session.status_idle' ? event.stop_reason : undefined;
    if (stop?.type !== 'requires_action') return;
    for (const id of stop.event_ids) await run.decide(id, 'allow').catch(() => undefined);
  });
}

export async function deepen(run: ScenarioRun): Promise<void> {
  await run.server.client.beta.sessions.update(run.session, { metadata: { 'claude_code.depth': run.depthMax } });
}

export async function putHooks(run: ScenarioRun, hooks: object): Promise<void> {
  const folder = join(run.server.directory, 'workspaces', run.session, '.claude');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'settings.json'), JSON.stringify({ hooks }));
  await run.server.client.beta.sessions.update(run.session, { metadata: { 'claude_code.settings': 'project' } });
}

export function hook(output: object | string, matcher = '*'): object[] {
  const command = typeof output === 'string' ? output : `echo '${JSON.stringify(output)}'`;
  return [{ matcher, hooks: [{ type: 'command', command }] }];
}

/** A command that makes one file and waits for another one. */
export const wait = (begun: string, go: string) => bash(`touch ${begun}; until [ -e ${go} ]; do sleep 0.1; done`);

/** The thread of a sub-agent, in the order in which they were created, and how the program names it. */
export async function keyAt(run: ScenarioRun, at: number): Promise<{ id: string; key: string }> {
  const { frames } = await run.server.log(run.session);
  const created = frames.filter(({ type }) => type === 'session.thread_created')[at];
  if (created?.type !== 'session.thread_created') return { id: '', key: '' };
  return { id: created.payload.session_thread_id, key: String(created.payload.program_key) };
}

/** Waits until the session has been idle for a moment: the program may begin a turn on its own. */
export async function settle(run: ScenarioRun): Promise<void> {
  for (let count = -1; count !== run.events.length; await new Promise((resolve) => setTimeout(resolve, 1_500))) {
    count = run.events.length;
    await run.rest();
  }
}
