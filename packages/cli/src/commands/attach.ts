import { CommandError } from '../command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import { findSessions } from '../import/find-sessions.ts';
import { SessionReader } from '../import/session-reader.ts';
import { StepSender } from '../import/step-sender.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { waitForSignal } from '../until-signal.ts';
import { writeText } from '../write-text.ts';

export interface AttachOptions extends ConnectionOptions {
  config?: string;
}

/**
 * `fleetloom attach`: follows a session of Claude Code that runs, read-only, until Ctrl-C. What it does appears in a session
 * of the server as it happens.
 */
export async function attach(io: Io, named: string | undefined, options: AttachOptions): Promise<number> {
  const where = { env: io.env, config: options.config, directory: process.cwd() };
  const [file] = await findSessions([named ?? '.'], where);
  if (file === undefined) return exitCode.failed;
  const reader = new SessionReader(file);
  const sender = new StepSender(createServerApi(toConnection(io.env, options)), file.id, reader.facts);
  const follower = createFollower(io, reader, sender);
  const stopped = waitForSignal(io);
  let shown: string | undefined;
  for (;;) {
    await follower.look();
    if (shown === undefined && sender.sessionId !== undefined) {
      shown = sender.sessionId;
      await writeText(io.stdout, `${shown}\n`);
    }
    const signal = await Promise.race([stopped, pause(io)]);
    if (signal === undefined) continue;
    await follower.end();
    return signal === 'SIGINT' ? exitCode.ok : exitCode[signal];
  }
}

function createFollower(io: Io, reader: SessionReader, sender: StepSender) {
  const now = () => io.timers.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failingSince: number | undefined;

  return {
    look: async () => {
      for await (const steps of reader.read(now)) await attempt(() => sender.add(steps));
      await attempt(() => sender.add(reader.rest(limits.attachQuietMs, now())));
      const isDue = failingSince === undefined ? sender.isWaiting : now() - triedAt >= limits.attachRetryMs;
      if (isDue || now() - toldAt >= limits.attachAliveMs) await attempt(() => tell());
    },
    end: async () => {
      await sender.add(reader.rest());
      await sender.flush(true);
    },
  };

  async function tell(): Promise<void> {
    triedAt = now();
    await sender.flush();
    toldAt = now();
    failingSince = undefined;
  }

  /** A server that is being restarted comes back: what could not be sent waits, up to a while. */
  async function attempt(send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      failingSince ??= now();
      if (sender.sessionId === undefined || now() - failingSince > limits.attachPatienceMs) throw error;
    }
  }
}

function pause({ timers }: Io): Promise<undefined> {
  return new Promise((resolve) => void timers.after(limits.attachLookMs, () => resolve(undefined)));
}
