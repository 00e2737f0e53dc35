import { isHeapShort } from '../../../base/process/heap-room.ts';
import { sessionLimits } from '../../core/limits.ts';
import { contentBytesOf } from '../../core/state/content-bytes.ts';
import type { ResolvedHostOptions } from './host-options.ts';
import type { HostedSession, HostedSessions } from './hosted-sessions.ts';
import type { ProblemReporter } from './problem-reporter.ts';

/** Releases sessions that are idle, and bounds how many idle programs are kept. */
export class IdleReleaser {
  readonly #options: ResolvedHostOptions;
  readonly #sessions: HostedSessions;
  readonly #reporter: ProblemReporter;
  /** Sessions whose program is being ended because too many are kept. */
  readonly #releasing = new Set<string>();

  constructor(options: ResolvedHostOptions, sessions: HostedSessions, reporter: ProblemReporter) {
    this.#options = options;
    this.#sessions = sessions;
    this.#reporter = reporter;
  }

  /** Does not wait for the releases: a program may take seconds to end, a tool may hang. */
  releaseIdle(hasPendingInputs: (sessionId: string) => boolean): void {
    const { clock, isHeapShort: isShort = isHeapShort } = this.#options;
    const now = clock.steady();
    const latest = now - (isShort() || this.#sessions.isRoomAwaited ? 0 : sessionLimits.hostIdleMs);
    const kept: [string, HostedSession][] = [];
    for (const [sessionId, hosted] of this.#sessions.ready) {
      // A turn that a program began on its own may begin and end between two ticks.
      hosted.content.resize(contentBytesOf(hosted.actor.state));
      const { isBusy } = hosted.actor;
      hosted.usedAt = isBusy ? now : Math.max(hosted.usedAt, hosted.actor.happenedAt);
      if (isBusy || hosted.usedAt > latest || hasPendingInputs(sessionId) || this.#releasing.has(sessionId)) continue;
      if (!hosted.actor.hasOpenProgram) this.#sessions.releaseInBackground(sessionId, hosted);
      else if (hosted.usedAt <= now - sessionLimits.hostIdleMs) kept.push([sessionId, hosted]);
    }
    this.#boundPrograms(kept);
  }

  /** Ends the programs that were idle longest where too many are kept. Their logs have the reason. */
  #boundPrograms(kept: readonly [string, HostedSession][]): void {
    const tooMany = kept.length - sessionLimits.idleProgramsMax;
    if (tooMany <= 0) return;
    const oldest = kept.toSorted(([, a], [, b]) => a.usedAt - b.usedAt).slice(0, tooMany);
    for (const [sessionId, { actor }] of oldest) {
      this.#releasing.add(sessionId);
      const released = actor.releasePrograms(RELEASED).finally(() => this.#releasing.delete(sessionId));
      this.#reporter.watch(sessionId, released);
    }
  }
}

const RELEASED =
  `this server keeps at most ${sessionLimits.idleProgramsMax} idle programs, and the program of this session was idle longest: ` +
  'send a message to go on';
