import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../../packages/cli/test-support/processes.ts';
import { type HostileServer, startHostileServer } from '../support/hostile-server.ts';
import { isLong, randomText, timeout } from '../support/seed.ts';
import { attack } from './attack.ts';
import { openIdleConnections, sendGarbage } from './exhaust.ts';
import { knownWays } from './known-ways.ts';
import { NastyValues } from './nasty-values.ts';
import { sendRandomRequests } from './random-requests.ts';
import { callRandomTools } from './random-tools.ts';

// Attacks on a real server process while another tenant works on it. `FLEETLOOM_LONG=1 npm test -- test/hostile` runs the long form.

/** Scripts that are nested deeper are refused as a whole, and then no tool is called. */
const NESTING_MAX = 20;

let hostile: HostileServer;
beforeAll(async () => {
  buildProgram();
  hostile = await startHostileServer();
});
afterAll(() => hostile.close());

describe('a server that is attacked', () => {
  it(
    '[X10] random requests of a key holder get an answer that is not a server error',
    () =>
      attack({}, async (victim) => {
        const { sent, failures, statuses } = await sendRandomRequests(victim, randomText(), isLong ? 100_000 : 1_000);
        console.log(`${sent} requests: ${JSON.stringify(statuses)}`);
        expect(failures.slice(0, 10)).toEqual([]);
        // A run in which nearly all requests are refused proves nothing.
        expect(statuses[200]).toBeGreaterThan(sent / 20);
      }),
    long(120_000),
  );

  it(
    '[X11] random input of every tool gets a result, and the session continues',
    () =>
      attack({}, async (victim) => {
        const nasty = new NastyValues(randomText(), NESTING_MAX);
        const { calls, results, failures } = await callRandomTools(victim, nasty, isLong ? 10_000 : 50);
        console.log(`${calls} tool calls, ${results} results`);
        expect(failures).toEqual([]);
        expect(results).toBe(calls);
      }),
    long(240_000),
  );

  it(
    '[X12] a client without a key that opens idle connections and sends garbage, with few descriptors left, does not block other clients',
    () =>
      attack({ descriptorsMax: 128 }, async (victim) => {
        const idle = await openIdleConnections(victim, 2_000);
        await sendGarbage(victim, isLong ? 2_000 : 64);
        if (isLong) await callRandomTools(victim, new NastyValues(randomText(), NESTING_MAX), 1_000, { atOnce: 2 });
        idle.end();
      }),
    long(180_000),
  );

  it(
    '[X19] every known attack, one after the other, ends and does not stop the server',
    () =>
      attack({ args: ['--allow-private-host', '127.0.0.1'] }, async (victim) => {
        for (let round = 0; round < (isLong ? 20 : 1); round++) {
          for (const [name, way] of Object.entries(knownWays)) {
            const begunAt = performance.now();
            await way(victim, hostile).catch((error: unknown) => {
              throw new Error(`way ${name} failed`, { cause: error });
            });
            expect([name, victim.exit()]).toEqual([name, undefined]);
            console.log(`${Math.round(performance.now() - begunAt)} ms: ${name}`);
          }
        }
      }),
    long(240_000),
  );
});

function long(ms: number): number {
  return isLong ? timeout : ms;
}
