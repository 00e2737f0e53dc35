import { it } from 'vitest';
import { script } from '../../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { describeWithClaudeCode } from '../../support/claude-code.ts';
import { bash, delegate } from '../claude-server.ts';
import { combinedMoments, moments } from './disturbances.ts';
import { runScenario, select } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shareClaudeServer } from './shared-server.ts';

const scenarios: readonly Scenario[] = [
  ...[...moments, ...combinedMoments].map(
    ({ name, agent = {}, reach }): Scenario => ({
      name: `an interrupt ${name}`,
      agent,
      isDisturbed: true,
      isSmoke: name === 'in a tool',
      drive: async (run) => {
        await reach(run);
        await run.send({ type: 'user.interrupt' });
        await run.rest();
        await run.ask('And now?');
      },
    }),
  ),
  {
    name: 'an interrupt of one sub-agent while another one goes on',
    agent: { roster: [{ name: 'worker' }] },
    isDisturbed: true,
    drive: async (run) => {
      const slow = delegate(
        'worker',
        'slow',
        script([{ say: 'I wait.' }, bash('touch begun; tail -f /dev/null')], [{ say: 'Never.' }]),
      );
      const quick = delegate(
        'worker',
        'quick',
        script([bash('until [ -e go ]; do sleep 0.1; done')], [{ say: 'Quick is done.' }]),
      );
      await run.say(`Go. ${script([slow, quick], [{ say: 'All done.' }])}`);
      await run.hasFile('begun');
      const { frames } = await run.server.log(run.session);
      const call = frames.find(
        ({ type, payload }) =>
          type === 'agent.tool_use' &&
          JSON.stringify(payload.input).includes('touch begun; tail') &&
          payload.name === 'Bash',
      );
      await run.send({ type: 'user.interrupt', session_thread_id: call?.threadId });
      await run.see(
        (event) => event.type === 'session.thread_status_idle' && event.session_thread_id === call?.threadId,
      );
      await run.server.makeFile(run.session, 'go');
      await run.rest();
    },
  },
];

await describeWithClaudeCode('one story with interrupts', ({ path, version }) => {
  const server = shareClaudeServer(path);

  it.for(select(scenarios, version))(
    '[J333] transcript, log and streams have the same content: %s',
    { timeout: 120_000 },
    async ([, scenario]) => {
      await runScenario(server(), scenario, version);
    },
  );
});
