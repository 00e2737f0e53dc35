import { openBenchFleet } from './sessions-fleet.ts';

/** The same session on two servers. */
export interface PlainFleets {
  /** On a server without recorders. */
  readonly without: () => Promise<void>;
  /** On a server that opens a recorder for each session with a source. This session does not have a source. */
  readonly recording: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens both servers. A recorder of a session without a source would be a defect. */
export async function openPlainFleets(): Promise<PlainFleets> {
  const plain = await openBenchFleet();
  const recorded = await openBenchFleet({
    openRecorder: (sessionId) => {
      throw new Error(`${sessionId} has no source, and must not be recorded`);
    },
  });
  const run = async (fleet: typeof plain) => {
    const { said } = await fleet.run(AGENTS, { deltas: DELTAS });
    if (said.size !== AGENTS) throw new Error(`${said.size} agents have said something instead of ${AGENTS}`);
  };
  return {
    without: () => run(plain),
    recording: () => run(recorded),
    close: async () => void (await Promise.all([plain.close(), recorded.close()])),
  };
}

const AGENTS = 4;
const DELTAS = 1_000;
