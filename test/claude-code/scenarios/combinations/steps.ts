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
