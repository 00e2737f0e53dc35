import { expect, it } from 'vitest';
import { randomText, isLong, timeout } from '../../../../../test/support/seed.ts';
import { Asks } from '../../engines/program/claude-code/approvals/asks.ts';
import { ProgramTranslator } from '../../engines/program/claude-code/translate/program-translator.ts';
import {
  type SimulatedRun,
  simulateProgram,
} from '../../engines/program/claude-code/process/simulate-program.suite.ts';
import { ToolServer } from '../../engines/program/claude-code/approvals/tool-server.ts';
import { agent } from '../../engines/program/suite/conversation.suite.ts';
import { findDisorder } from '../../engines/program/suite/find-disorder.suite.ts';
import type { ProgramEvent } from '../../engines/program/program.ts';
import type { RandomText } from '../../../../../bench/random-text.ts';
import { foldThreads } from '../core/program/fold-threads.suite.ts';

const RUNS = isLong ? 100_000 : 300;

it(
  `[J261] in ${RUNS} random interleavings of gateway events and lines every thread has each block once, in its order, and its deltas add up`,
  async () => {
    const random = randomText();
    for (let run = 0; run < RUNS; run++) {
      const isGatewayLate = random.next() < 0.1;
      const hasAgentIds = random.next() < 0.5;
      const simulated = simulateProgram(random, { hasAgentIds, hasWhiteSpace: !isGatewayLate });
      const events = deliver(simulated, random, isGatewayLate);
      expect([run, findDisorder(events)]).toEqual([run, []]);
      const threads = await foldThreads(events);
      for (const { id: key, said, isStreamed } of simulated.agents) {
        const { blocks, ids, text } = threads.get(key) ?? { blocks: [], ids: [], text: '' };
        // After an answer that was not streamed, texts of white space may be missed: they have no line.
        const isCompared = (block: string) => isStreamed || /^\w+ .*\S/s.test(block);
        expect([run, key, blocks.filter(isCompared)]).toEqual([run, key, said.filter(isCompared)]);
        expect([run, key, new Set(ids).size]).toEqual([run, key, ids.length]);
        const texts = said.flatMap((each) => (each.startsWith('text ') ? [each.slice('text '.length)] : []));
        if (isStreamed) expect([run, key, text]).toEqual([run, key, texts.join('')]);
      }
    }
  },
  timeout,
);

/** The gateway is ahead of the lines by as much as it happens, or for some answers behind them. */
function deliver({ steps }: SimulatedRun, random: RandomText, isGatewayLate: boolean): ProgramEvent[] {
  const translator = new ProgramTranslator({
    agent: agent(),
    members: [],
    asks: new Asks(() => {}),
    tools: new ToolServer([], () => {}),
    known: [],
    isResumed: false,
    hearsNested: true,
    onUnknownRequest: () => {},
  });
  const events: ProgramEvent[] = [];
  const [lag, fullShare] = [random.pick([0, 0.5, 0.9, 0.99]), random.pick([0, 0, 0.02])];
  const pipe: (() => ProgramEvent[])[] = [];
  const take = (count: number) => {
    for (const next of pipe.splice(0, count)) events.push(...next());
  };
  for (const step of steps) {
    while (pipe.length > 0 && random.next() > lag) take(1);
    const see = () => (step.channel === 'gateway' ? translator.takeTapped(step.event, random.next() < fullShare) : []);
    const isPiped = step.channel === 'stdout' ? !isGatewayLate : isGatewayLate;
    const act = step.channel === 'stdout' ? () => translator.take(step.line) : see;
    if (isPiped) pipe.push(act);
    else events.push(...act());
  }
  take(Infinity);
  return events;
}
