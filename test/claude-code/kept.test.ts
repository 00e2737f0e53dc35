import { expect, it, vi } from 'vitest';
import { script } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { sessionLimits } from '../../packages/server/src/sessions/core/limits.ts';
import { describeWithClaudeCode } from '../support/claude-code.ts';
import { bash, type ClaudeServer, textsOf, toolset, withClaudeServer } from './claude-server.ts';

const longMs = sessionLimits.hostIdleMs + 15_000;

await describeWithClaudeCode('sessions of the real program that are idle for long', ({ path, version }) => {
  // Minutes of waiting: `npm run test:claude-code` has them, `npm test` proves the same with a moved clock (R330).
  it.runIf(process.env['FLEETLOOM_CLAUDE_CODE_REQUIRED'] === '1')(
    '[J240] after 75 s an approval, a question, a custom tool call, a background command and a wake-up are still open, and each is carried on',
    async () => {
      await withClaudeServer(path, async (server) => {
        const form = {
          type: 'custom',
          name: 'form',
          description: 'Asks',
          input_schema: { type: 'object', properties: {} },
        };
        const asking = await server.createSession({ tools: [toolset('always_ask')] });
        const questioning = await server.createSession();
        const calling = await server.createSession({ tools: [toolset('always_allow'), form] });
        const working = await server.createSession();
        const sleeping = await server.createSession();
        const naps = script([toWakeUp(version)], [{ say: 'Asleep.' }], [{ say: 'Awake.' }]);
        await server.say(sleeping, `Go. ${naps}`);
        await waitForEnd(server, sleeping, 'Asleep.');
        const question = {
          question: 'Which one?',
          header: 'One',
          multiSelect: false,
          options: [choice('a'), choice('b')],
        };
        await server.say(asking, `Go. ${script([bash('echo yes > done')], [{ say: 'Asked.' }])}`);
        await server.say(
          questioning,
          `Go. ${script([{ call: 'AskUserQuestion', input: { questions: [question] } }], [{ say: 'Questioned.' }])}`,
        );
        await server.say(calling, `Go. ${script([{ call: 'mcp__fleetloom__form', input: {} }], [{ say: 'Called.' }])}`);
        const command = 'until [ -e go ]; do sleep 0.2; done; echo over > over';
        const input = { command, description: 'Waits for go', run_in_background: true };
        await server.say(
          working,
          `Go. ${script([{ call: 'Bash', input }], [{ say: 'Under way.' }], [{ say: 'Worked.' }])}`,
        );
        const asks = await Promise.all([asking, questioning, calling].map((session) => waitForAsk(server, session)));
        await vi.waitFor(async () => expect(await workOf(server, working)).toEqual(['started command']), {
          timeout: 60_000,
        });
        await waitForEnd(server, working, 'Under way.');

        await new Promise((resolve) => setTimeout(resolve, longMs));
        expect(await server.programs()).toHaveLength(5);
        await server.send(asking, { type: 'user.tool_confirmation', tool_use_id: asks[0], result: 'allow' });
        const content = [{ type: 'text', text: 'a' }];
        await server.send(questioning, { type: 'user.custom_tool_result', custom_tool_use_id: asks[1], content });
        await server.send(calling, { type: 'user.custom_tool_result', custom_tool_use_id: asks[2], content });
        await server.makeFile(working, 'go');
        await waitForEnd(server, asking, 'Asked.');
        await waitForEnd(server, questioning, 'Questioned.');
        await waitForEnd(server, calling, 'Called.');
        await waitForEnd(server, working, 'Worked.');
        await waitForEnd(server, sleeping, 'Awake.', 180_000);
        expect(await workOf(server, sleeping)).toEqual(['started wake_up', 'ended completed']);
        expect(await server.files(asking)).toEqual(['done']);
        expect(await server.files(working)).toEqual(['go', 'over']);
        expect(await workOf(server, working)).toEqual(['started command', 'ended completed']);
        for (const session of [asking, questioning, calling, working, sleeping]) {
          const { frames, problems } = await server.log(session);
          expect(problems).toEqual([]);
          // A request that the program repeats, because its connection was idle for too long, is not lost work.
          const errors = frames.filter(({ type, payload }) => type === 'session.error' && payload.retry !== 'retrying');
          expect(errors).toEqual([]);
        }
      });
    },
    300_000,
  );

  it('[J392] a wake-up is work where the program schedules it: 2.1.197 has the tool and answers that nothing is scheduled', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const input = { delaySeconds: 3_000, reason: 'Look again', prompt: 'Look again.' };
      await server.run(session, `Go. ${script([{ call: 'ScheduleWakeup', input }], [{ say: 'Asleep.' }])}`);
      const { frames } = await server.log(session);
      const results = frames.flatMap((frame) => (frame.type === 'agent.tool_result' ? [frame.payload] : []));
      const isRefused = version === '2.1.197';
      expect(results).toMatchObject([
        { content: [{ text: expect.stringMatching(isRefused ? /^Wakeup not scheduled/ : /^Next wakeup scheduled/) }] },
      ]);
      expect(await workOf(server, session)).toEqual(isRefused ? [] : ['started wake_up']);
    });
  }, 60_000);

  it('[J241] a background command that is lost in a restart is an error with the reason in the log', async () => {
    await withClaudeServer(path, async (server) => {
      const session = await server.createSession();
      const input = { command: 'tail -f /dev/null', description: 'Never ends', run_in_background: true };
      const turns = script([{ call: 'Bash', input }], [{ say: 'Under way.' }], [{ say: 'I go on.' }]);
      await server.run(session, `Go. ${turns}`);
      await server.restart();
      const expected = ['started command', 'ended lost'];
      await vi.waitFor(async () => expect(await workOf(server, session)).toEqual(expected), { timeout: 60_000 });
      const { frames } = await server.log(session);
      const errors = frames.flatMap((frame) => (frame.type === 'session.error' ? [frame.payload.error.message] : []));
      expect(errors).toEqual([
        expect.stringMatching(/background command "Never ends" ended.*the server was restarted/),
      ]);
      expect(textsOf(await server.run(session, 'And now?'))).toContain('I go on.');
    });
  }, 180_000);
});

/**
 * A call after which the program begins a turn on its own, more than `longMs` later. 2.1.197 refuses `ScheduleWakeup` (J392), so there it is a
 * cron job; not at a full or half hour, for which programs begin up to 90 s early.
 */
function toWakeUp(version: string): object {
  if (version !== '2.1.197') {
    // At least 60 s later, at a full minute.
    return {
      call: 'ScheduleWakeup',
      input: { delaySeconds: 90, reason: 'Look again', prompt: '/loop look', noop: false },
    };
  }
  const earliest = new Date(Date.now() + longMs + 80_000);
  const at = earliest.getMinutes() % 30 === 0 ? new Date(earliest.getTime() + 60_000) : earliest;
  const cron = `${at.getMinutes()} ${at.getHours()} * * *`;
  return { call: 'CronCreate', input: { cron, prompt: 'Look again.', recurring: false } };
}

const choice = (label: string) => ({ label, description: label });

async function waitForAsk(server: ClaudeServer, session: string): Promise<string> {
  let asks: readonly string[] = [];
  await vi.waitFor(
    async () => {
      const { frames } = await server.log(session);
      const idle = frames.findLast((frame) => frame.type === 'session.status_idle');
      asks =
        idle?.type === 'session.status_idle' && 'event_ids' in idle.payload.stop_reason
          ? idle.payload.stop_reason.event_ids
          : [];
      expect(asks).toHaveLength(1);
    },
    { timeout: 60_000, interval: 200 },
  );
  return asks[0]!;
}

async function waitForEnd(server: ClaudeServer, session: string, last: string, timeout = 60_000): Promise<void> {
  await vi.waitFor(
    async () => {
      const { frames } = await server.log(session);
      const said = frames.findLast((frame) => frame.type === 'agent.message');
      expect(said?.type === 'agent.message' ? said.payload.content[0]?.text : undefined).toBe(last);
      expect(frames.at(-1)?.type).toBe('session.status_idle');
    },
    { timeout, interval: 200 },
  );
}

async function workOf(server: ClaudeServer, session: string): Promise<string[]> {
  const { frames } = await server.log(session);
  return frames.flatMap((frame) => {
    if (frame.type === 'program.work_started') return [`started ${frame.payload.kind}`];
    return frame.type === 'program.work_ended' ? [`ended ${frame.payload.outcome}`] : [];
  });
}
