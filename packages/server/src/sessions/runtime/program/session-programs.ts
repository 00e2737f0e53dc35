import type { ProgramVitals } from '../../../engines/program/program.ts';
import type { NewSessionFrame } from '../../../frames/frames.ts';
import {
  hasOpenTurn,
  isProgramOpen,
  listProgramRoots,
  programRootOf,
  rootOf,
} from '../../core/state/program-threads.ts';
import { type SessionState, type ThreadState, threadOf } from '../../core/state/state.ts';
import type { ProgramDriver } from './program-driver.ts';
import type { LoggedPrograms } from './read-logged.ts';

/** The programs of one session, each with a driver for the thread that is its root. */
export class SessionPrograms {
  readonly #state: SessionState;
  readonly #createDriver: (rootId: string) => ProgramDriver;
  /** The drivers of the programs that had a message since the session was opened, by their roots. */
  readonly #drivers = new Map<string, ProgramDriver>();

  constructor(state: SessionState, createDriver: (rootId: string) => ProgramDriver) {
    this.#state = state;
    this.#createDriver = createDriver;
  }

  /** The driver of the program that runs a thread as its main agent. */
  driverOf(rootId: string): ProgramDriver {
    const driver = this.#drivers.get(rootId) ?? this.#createDriver(rootId);
    this.#drivers.set(rootId, driver);
    return driver;
  }

  /** Whether a program has work in progress. */
  isOpen(now: number): boolean {
    return listProgramRoots(this.#state).some((root) => isProgramOpen(this.#state, root, now));
  }

  /** Called when the state has the frames. A program gets a driver with the first turn of its root. */
  accept(frames: readonly NewSessionFrame[]): void {
    for (const { type, threadId } of frames) {
      if (type !== 'turn.started') continue;
      const thread = threadOf(this.#state, threadId!);
      if (programRootOf(this.#state, thread) === thread) this.driverOf(thread.id);
    }
    for (const driver of this.#drivers.values()) driver.accept(frames);
  }

  /** Called when the frames are durable. */
  begin(frames: readonly NewSessionFrame[]): void {
    for (const driver of this.#drivers.values()) driver.begin(frames);
  }

  /** Logs what the programs did until they ended. `readLogged` is called only if a turn of a program was open. */
  async recover(readLogged: () => Promise<LoggedPrograms>): Promise<void> {
    const open = listProgramRoots(this.#state).filter((root) => hasOpenTurn(this.#state, root));
    if (open.length === 0) return;
    const logged = await readLogged();
    for (const { id } of open) await this.driverOf(id).recover(logged.get(id)!);
  }

  vitalsOf(thread: ThreadState): ProgramVitals | undefined {
    return this.#drivers.get(rootOf(this.#state, thread).id)?.vitals;
  }

  stopUnwanted(): void {
    for (const driver of this.#drivers.values()) driver.stopUnwanted();
  }

  /** Ends the programs. Later messages start new processes with the same conversations. */
  async close(): Promise<void> {
    await Promise.all([...this.#drivers.values()].map((driver) => driver.close()));
  }

  /** Ends the programs without writing to the log. */
  async drop(): Promise<void> {
    await Promise.all([...this.#drivers.values()].map((driver) => driver.drop()));
  }
}
