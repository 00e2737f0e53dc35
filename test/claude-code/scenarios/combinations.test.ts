import { it } from 'vitest';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { approvalScenarios } from './combinations/approvals.ts';
import { crowdScenarios } from './combinations/crowds.ts';
import { followUpScenarios } from './combinations/follow-ups.ts';
import { messageScenarios } from './combinations/messages.ts';
import { mixedScenarios } from './combinations/mixed.ts';
import { workScenarios } from './combinations/work.ts';
import { runScenario, select } from './run-scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

// What the other tables have apart, together.
const scenarios = [
  ...messageScenarios,
  ...approvalScenarios,
  ...workScenarios,
  ...followUpScenarios,
  ...mixedScenarios,
  ...crowdScenarios,
];

await describeWithClaudeCode('one story of several things at once', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J500] transcript, log and streams have the same content: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});
