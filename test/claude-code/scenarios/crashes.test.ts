import { it } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { combinedMoments, moments } from './disturbances.ts';
import { runScenario, select } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const scenarios: readonly Scenario[] = [...moments, ...combinedMoments].map(({ name, agent = {}, reach }) => ({
  name: `the program is killed ${name}`,
  agent,
  isDisturbed: true,
  isSmoke: name === 'in an approval',
  drive: async (run) => {
    await reach(run);
    await run.isWritten();
    await run.kill();
    await run.rest();
    await run.ask('And now?');
  },
}));

/** Work in the background that ends with the program. */
const lost: readonly Scenario[] = [1, 2].map((count) => ({
  name: `the program is killed with ${count} commands in the background, and nothing else under way`,
  isDisturbed: true,
  drive: async (run) => {
    const commands = Array.from({ length: count }, (_, at) => ({
      call: 'Bash',
      input: { command: 'tail -f /dev/null', description: `Never ends ${at}`, run_in_background: true },
    }));
    await run.ask(`Go. ${script(commands, [{ say: 'Under way.' }], [{ say: 'I go on.' }], [{ say: 'And on.' }])}`);
    await run.isWritten();
    await run.kill();
    await run.see((event) => event.type === 'session.error');
    await run.receives((event) => event.type === 'session_error' && event.reason === 'program_work_lost');
    await run.ask('And now?');
  },
}));

await describeWithClaudeCode('one story with crashes of the program', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J334] transcript, log and streams have the same content: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );

  it.for(select(lost, version))(
    '[J361] lost background work is one error on the fleet stream and one among the events: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});
