import { it } from 'vitest';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { moments } from './disturbances.ts';
import { runScenario, select } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const gaps: Readonly<Record<string, Scenario['knownGap']>> = {};

const scenarios: readonly Scenario[] = moments.map(({ name, agent = {}, reach }) => ({
  name: `the program is killed ${name}`,
  agent,
  isDisturbed: true,
  isSmoke: name === 'in an approval',
  knownGap: gaps[name],
  drive: async (run) => {
    await reach(run);
    await run.isWritten();
    await run.kill();
    await run.rest();
    await run.ask('And now?');
  },
}));

await describeWithClaudeCode('one story with crashes of the program', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J334] transcript, log and streams tell the same: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});
