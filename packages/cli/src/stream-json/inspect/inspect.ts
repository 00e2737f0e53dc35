import { createTree, foldEvent } from '@fleetloom/protocol/stream-json/tree';
import { exitCode } from '../../base/exit-code.ts';
import { openInput } from '../input/open-input.ts';
import { readEvents } from '../input/read-events.ts';
import { toInspection } from './to-inspection.ts';
import type { Io } from '../../base/io.ts';
import { toJsonText } from '../../base/json-text.ts';
import { createOutcome, explainOutcome, foldOutcome, type Outcome, toExitCode } from '../input/outcome.ts';
import { type Ending, untilSignal } from '../../base/until-signal.ts';
import { writeText } from '../../base/write-text.ts';

export interface InspectOptions {
  json?: boolean;
}

/** `fleetloom inspect`: prints the whole transcript of a run, as text or as one JSON object. */
export async function inspect(io: Io, file: string | undefined, options: InspectOptions): Promise<number> {
  const { bytes } = await openInput(io, file);
  const outcome = createOutcome();
  const ending = options.json ? await printJson(io, bytes, outcome) : await printUnfolded(io, bytes, outcome);
  if (ending !== 'ended') return exitCode[ending];
  const said = explainOutcome(outcome);
  if (said) io.stderr.write(`fleetloom: ${said}\n`);
  return toExitCode(outcome);
}

async function printJson(io: Io, bytes: AsyncIterable<Uint8Array>, outcome: Outcome): Promise<Ending> {
  const tree = createTree();
  const ending = await untilSignal(io, readEvents(bytes), (events) => {
    for (const event of events) {
      foldEvent(tree, event);
      foldOutcome(outcome, event);
    }
  });
  if (ending === 'ended') await writeText(io.stdout, `${toJsonText(io.stdout, toInspection(tree), 1)}\n`);
  return ending;
}

async function printUnfolded(io: Io, bytes: AsyncIterable<Uint8Array>, outcome: Outcome): Promise<Ending> {
  const [{ createTranscript, foldTranscript }, { printTranscript }] = await Promise.all([
    import('./transcript.ts'),
    import('./print-transcript.ts'),
  ]);
  const transcript = createTranscript();
  const ending = await untilSignal(io, readEvents(bytes), (events) => {
    for (const event of events) {
      foldTranscript(transcript, event);
      foldOutcome(outcome, event);
    }
  });
  transcript.overview.ended = true;
  if (ending === 'ended') await printTranscript(io, transcript);
  return ending;
}
