import { isLong } from '../../support/seed.ts';
import type { ClaudeServer } from '../claude-server.ts';
import { catchUp, checkStory } from './check-story.ts';
import { ScenarioRun } from './scenario-run.ts';
import type { Scenario } from './scenario.ts';

/** How long to wait for one step of a scenario: much more than it takes, even on a busy machine. */
const PATIENCE_MS = 60_000;

/** The scenarios of a table that this run of the tests plays with this version of the program, with their names. */
export function select<Row extends Pick<Scenario, 'name' | 'version' | 'isSmoke' | 'isLong'>>(
  rows: readonly Row[],
  version: string,
): (readonly [name: string, row: Row])[] {
  const isAll = isLong || process.env['FLEETLOOM_CLAUDE_CODE_REQUIRED'] === '1';
  return rows
    .filter((row) => (row.version ?? version) === version)
    .filter((row) => (row.isLong === true ? isLong : isAll || row.isSmoke === true))
    .map((row) => [row.name, row]);
}

/** Plays a scenario on a session of its own and compares all records of it. */
export async function runScenario(server: ClaudeServer, scenario: Scenario, version: string): Promise<void> {
  const { agent, drive } = scenario;
  const session = await server.createSession(typeof agent === 'function' ? await agent() : agent);
  const run = new ScenarioRun({ server, session, version, patienceMs: PATIENCE_MS });
  await run.follow();
  try {
    await drive(run);
    await catchUp(run);
    await run.leave();
    await checkStory(run, scenario);
  } catch (failure) {
    await giveUp(run);
    throw failure;
  }
}

/** Interrupts and archives the session of a failed scenario, so that its program does not affect the next one. */
async function giveUp(run: ScenarioRun): Promise<void> {
  const { server, session } = run;
  await run.leave().catch(() => undefined);
  await server.send(session, { type: 'user.interrupt' }).catch(() => undefined);
  for (let attempt = 0; attempt < 50; attempt++) {
    const isArchived = await server.client.beta.sessions.archive(session).then(
      () => true,
      () => false,
    );
    if (isArchived) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
