import { exitCode } from '../base/exit-code.ts';
import { openInput } from './input/open-input.ts';
import { readEvents } from './input/read-events.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { createOutcome, explainOutcome, foldOutcome, type Outcome, toExitCode } from './input/outcome.ts';
import { type Ending, untilSignal } from '../base/until-signal.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';

export interface TranslateOptions {
  json?: boolean;
  tree?: boolean;
}

/** `fleetloom translate`: prints a stream as agent events or as a live tree of agents. */
export async function translate(io: Io, file: string | undefined, options: TranslateOptions): Promise<number> {
  if (options.json && options.tree) throw new UsageError('--json cannot be combined with --tree.', 'Pass one of them.');
  const input = await openInput(io, file);
  const asTree = options.tree ?? (!options.json && io.stdout.isTTY === true);
  const outcome = createOutcome();
  const ending = asTree
    ? await showTree(io, input.bytes, input.live, outcome)
    : await printEvents(io, input.bytes, outcome);
  if (ending !== 'ended') return exitCode[ending];
  const said = explainOutcome(outcome);
  if (said) io.stderr.write(`fleetloom: ${said}\n`);
  return toExitCode(outcome);
}

async function showTree(io: Io, bytes: AsyncIterable<Uint8Array>, live: boolean, outcome: Outcome): Promise<Ending> {
  const { watchTree } = await import('./tree/watch-tree.ts');
  return await watchTree(io, readEvents(bytes), {
    timeSource: live ? 'arrival' : 'line',
    now: () => io.timers.now(),
    onEvent: (event) => foldOutcome(outcome, event),
  });
}

/** One write per chunk; reading continues after the write has drained (SPEC C3). */
async function printEvents(io: Io, bytes: AsyncIterable<Uint8Array>, outcome: Outcome): Promise<Ending> {
  return await untilSignal(io, readEvents(bytes), async (events) => {
    let text = '';
    for (const event of events) {
      foldOutcome(outcome, event);
      text += `${toJsonText(io.stdout, event)}\n`;
    }
    await writeText(io.stdout, text);
  });
}
