import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claudeCodeFormat } from '../../packages/cli/src/import/session-format.ts';
import { SessionReader } from '../../packages/cli/src/import/session-reader.ts';
import type { Step } from '../../packages/cli/src/import/step.ts';
import { createManualClock } from '../../packages/server/src/base/clock.ts';
import { createIds } from '../../packages/server/src/base/ids.ts';
import { importBody } from '../../packages/server/src/http/schemas/import.ts';
import { toImportedStep } from '../../packages/server/src/http/convert/to-imported-step.ts';
import { createImports } from '../../packages/server/src/sessions/index.ts';
import { findSessionProblems, findUnsettled } from '../../packages/server/src/sessions/suite/check-session.suite.ts';
import { createLog } from '../../packages/server/src/log/log.ts';
import { createMemoryStore } from '../../packages/server/src/store/memory/memory-store.ts';
import { repositoryRoot } from '../support/root.ts';

const sessions = {
  '2.1.197': 'ab518c33-1b84-4e01-ac5b-40267d5933c3',
  '2.1.325': 'e8231263-e77b-4b4b-b290-0a2dcc00988a',
};

it.each(Object.entries(sessions))(
  '[J140] wherever the import of a session of claude %s is cut, the log is whole and ends the same',
  async (version, id) => {
    const steps = await readSteps(version, id);
    const whole = await storyOf([steps]);
    expect(whole.length).toBeGreaterThan(50);
    const cuts = cutsBetweenLines(steps);
    expect(cuts.length).toBeGreaterThan(20);
    for (const cut of cuts) {
      const story = await storyOf([steps.slice(0, cut), steps]);
      expect(story.filter(isSaid)).toEqual(whole.filter(isSaid));
    }
  },
  60_000,
);

/** Imports these one after the other and returns the log, without ids and times. */
async function storyOf(parts: readonly (readonly Step[])[]): Promise<string[]> {
  const clock = createManualClock(Date.UTC(2026, 11, 1));
  const store = createMemoryStore({ clock });
  const ids = createIds({ now: clock.now, random: () => 0.5 });
  const models = { costNanoUsd: () => 1, windowTokens: () => 200_000 };
  const imports = createImports({ store, log: createLog({ store }), ids, models });
  let sessionId = '';
  for (const part of parts) {
    const common = { program: 'claude-code', conversation: 'c', title: null, directory: null, version: null };
    const { steps } = importBody.parse({ ...common, steps: part, is_end: true });
    const taken = await imports.append({
      workspaceId: 'default',
      conversation: 'c',
      agent,
      environment: { id: 'env_1', type: 'cloud' },
      title: null,
      metadata: {},
      steps: steps.map(toImportedStep),
      isEnd: true,
      now: clock.now(),
    });
    sessionId = taken.sessionId;
  }
  const checked = { workspaceId: 'default', sessionId };
  expect(await findSessionProblems(store, checked)).toEqual([]);
  expect(await findUnsettled(store, checked)).toEqual([]);
  const entries = await store.read({ sessionId, after: 0, entriesMax: 10_000, bytesMax: 100_000_000 });
  return entries.flatMap((entry) => {
    if (entry.kind === 'pruned') return [];
    const { type, payload } = entry.value;
    return [`${type} ${JSON.stringify(payload['content'] ?? payload['input'] ?? payload['block'] ?? '')}`];
  });
}

/** What agents and people said and did. That a turn was taken for over in between adds only to the rest. */
function isSaid(line: string): boolean {
  return /^(?:agent\.(?:message|thinking|tool_use)|user\.message) /.test(line);
}

async function readSteps(version: string, id: string): Promise<Step[]> {
  const path = join(repositoryRoot, 'fixtures', 'claude-code', version, 'projects', '-home-user-shop', `${id}.jsonl`);
  const reader = new SessionReader({ id, path, changedAt: 0 }, claudeCodeFormat);
  const steps: Step[] = [];
  for await (const some of reader.read()) steps.push(...some);
  return [...steps, ...reader.rest()];
}

/** The steps of one line are sent together. */
function cutsBetweenLines(steps: readonly Step[]): number[] {
  return steps.flatMap(({ key, line }, at) => {
    const before = steps[at - 1];
    return before === undefined || (before.key === key && before.line === line) ? [] : [at];
  });
}

const agent = {
  type: 'agent',
  id: 'agent_1',
  version: 1,
  name: 'claude',
  description: null,
  system: null,
  model: { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' },
  tools: [],
  mcp_servers: [],
  skills: [],
  execution_identity: { type: 'service_account' },
  multiagent: null,
} as const;
