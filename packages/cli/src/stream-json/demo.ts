import { readFile } from 'node:fs/promises';
import { type AgentEvent, StreamTranslator } from '@fleetloom/protocol/stream-json';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { detectLook } from '../terminal/look.ts';
import { watchTree } from './tree/watch-tree.ts';
import { writeText } from '../base/write-text.ts';

export interface DemoOptions {
  speed: number;
}

/** `fleetloom demo`: plays a recorded run with its original pauses, slowed down: the run took one second. */
export async function demo(io: Io, { speed }: DemoOptions): Promise<number> {
  const recording = await loadRecording();
  const look = detectLook(io);
  const player = look.live ? createPlayer(io, recording, SLOWER / speed) : createPlayer(io, recording, 0);
  const slower = Math.round(SLOWER / speed);
  const title = look.live && slower > 1 ? `demo: a recorded run, ${slower} times slower` : 'demo: a recorded run';
  const ending = await watchTree(io, player.play(), { timeSource: 'arrival', now: player.now, title });
  if (ending !== 'ended') return exitCode[ending];
  await writeText(
    io.stdout,
    `\n${look.paint('$ ', 'dim')}${WATCH}\n${look.paint('$ ', 'dim')}${INSPECT}${look.paint(EVERYTHING, 'dim')}\n`,
  );
  return exitCode.ok;
}

/** The recorded run took one second, too short to watch. */
const SLOWER = 12;

/** Suggested next steps. The first just fits 80 columns, so that it can be copied in one piece. */
const WATCH = 'claude -p "hi" --output-format stream-json --verbose | npx fleetloom translate';
const INSPECT = 'npx fleetloom inspect run.ndjson';
const EVERYTHING = '   the whole transcript of a saved run';

interface Recording {
  lines: string[];
  arrivalMs: number[];
}

async function loadRecording(): Promise<Recording> {
  const read = (name: string) => readFile(new URL(`../../demo/${name}`, import.meta.url), 'utf8');
  const [stream, arrival] = await Promise.all([read('four-workers.ndjson'), read('four-workers.arrival.json')]);
  // Shipped with the package; a test checks that it matches the stream.
  const { startedAt, arrivalMs } = JSON.parse(arrival) as { startedAt: string; arrivalMs: number[] };
  const startedAtMs = Date.parse(startedAt);
  return { lines: stream.split('\n').slice(0, arrivalMs.length), arrivalMs: arrivalMs.map((ms) => startedAtMs + ms) };
}

interface Player {
  play(): AsyncGenerator<AgentEvent[]>;
  /** The clock of the recording, not of its playback. */
  now: () => number;
}

/** Creates the player. `slower` is the factor by which pauses are longer than in the recording; 0 means no pauses. */
function createPlayer(io: Io, { lines, arrivalMs }: Recording, slower: number): Player {
  const firstMs = arrivalMs[0] ?? 0;
  const startedAtMs = io.timers.now();
  let at = 0;
  const clock = () => firstMs + (io.timers.now() - startedAtMs) / slower;
  return {
    now: () => {
      const [fromMs = firstMs, toMs = fromMs] = arrivalMs.slice(at);
      return slower === 0 ? fromMs : Math.min(toMs, Math.max(fromMs, clock()));
    },
    play: async function* () {
      const stream = new StreamTranslator();
      const encoder = new TextEncoder();
      for (const [index, line] of lines.entries()) {
        const waitMs = slower === 0 ? 0 : ((arrivalMs[index] ?? 0) - clock()) * slower;
        if (waitMs > 0) await new Promise<void>((resolve) => io.timers.after(waitMs, resolve));
        at = index;
        yield stream.push(encoder.encode(`${line}\n`));
      }
    },
  };
}
