import { exitCode } from '../../base/exit-code.ts';
import { openInput } from '../input/open-input.ts';
import { readEvents } from '../input/read-events.ts';
import type { Io } from '../../base/io.ts';
import { toJsonText } from '../../base/json-text.ts';
import { createOutcome, explainOutcome, foldOutcome, toExitCode } from '../input/outcome.ts';
import { foldOverview } from '../overview/fold-overview.ts';
import { createOverview } from '../overview/overview.ts';
import { toStats } from './to-stats.ts';
import { untilSignal } from '../../base/until-signal.ts';
import { writeText } from '../../base/write-text.ts';

export interface StatsOptions {
  json?: boolean;
}

/** `fleetloom stats`: prints figures per agent, as a table or as one JSON object. */
export async function stats(io: Io, file: string | undefined, options: StatsOptions): Promise<number> {
  const input = await openInput(io, file);
  const overview = createOverview(input.live ? 'arrival' : 'line');
  const outcome = createOutcome();
  const ending = await untilSignal(io, readEvents(input.bytes), (events) => {
    const arrivalMs = input.live ? io.timers.now() : undefined;
    for (const event of events) {
      foldOverview(overview, event, arrivalMs);
      foldOutcome(outcome, event);
    }
  });
  if (ending !== 'ended') return exitCode[ending];
  overview.ended = true;
  const figures = toStats(overview);
  if (options.json) await writeText(io.stdout, `${toJsonText(io.stdout, figures, 2)}\n`);
  else {
    const { printStats } = await import('./print-stats.ts');
    await printStats(io, figures);
  }
  const said = explainOutcome(outcome);
  if (said) io.stderr.write(`fleetloom: ${said}\n`);
  return toExitCode(outcome);
}
