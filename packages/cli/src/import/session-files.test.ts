import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { limits } from '../base/limits.ts';
import { listAgentFiles } from './session-files.ts';

it('[Y134] agents are found three folders below `subagents`, and agents of a workflow have the labels of its record or journal', async () => {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-files-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'id', 'subagents');
  const run = join(folder, 'workflows', 'wf_1');
  await mkdir(join(run, 'deeper', 'deepest'), { recursive: true });
  await mkdir(join(root, 'id', 'workflows'));
  const places = { a1: folder, a2: run, a3: run, a4: join(run, 'deeper'), a5: join(run, 'deeper', 'deepest') };
  for (const [key, place] of Object.entries(places)) {
    await writeFile(join(place, `agent-${key}.jsonl`), '');
    const agentType = place === run ? 'workflow-subagent' : 'alpha';
    await writeFile(join(place, `agent-${key}.meta.json`), JSON.stringify({ agentType }));
  }
  const workflowProgress = [{ type: 'workflow_agent', agentId: 'a2', label: 'second' }];
  await writeFile(join(root, 'id', 'workflows', 'wf_1.json'), JSON.stringify({ workflowProgress }));
  const started = { type: 'started', agentId: 'a3', label: 'third' };
  await writeFile(join(run, 'journal.jsonl'), `not JSON\n${JSON.stringify(started)}\n`);
  const files = await listAgentFiles({ id: 'id', path: join(root, 'id.jsonl'), changedAt: 0 });
  const names = await Promise.all(files.map(async ({ key, readMeta }) => [key, (await readMeta())?.agentType]));
  expect(Object.fromEntries(names)).toEqual({ main: undefined, a1: 'alpha', a2: 'second', a3: 'third', a4: 'alpha' });
  expect(limits.importFoldersMax).toBe(3);
});
