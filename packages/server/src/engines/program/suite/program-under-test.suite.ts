import { afterAll, beforeAll } from 'vitest';
import type { ProgramCapabilities } from '../program-capabilities.ts';
import type { ProgramControl } from '../program-controls.ts';
import type { TestedPrograms } from './conversation.suite.ts';
import type { ProgramWords } from './words.suite.ts';

/** For one test: real programs take 20 times as long on a machine that others use too. */
export const PROGRAM_TEST_MS = 300_000;

export interface ProgramUnderTest {
  readonly create: () => Promise<TestedPrograms>;
  /** The one that the tests share. Each opens programs of its own, and closes them. */
  readonly tested: () => TestedPrograms;
  readonly words: ProgramWords;
  /** What the engine says of it before it runs. */
  readonly capabilities: ProgramCapabilities;
  /** What the program says of itself. */
  readonly version: string | null;
  /** Whether its sub-agents are seen growing. */
  readonly isTapped: boolean;
  /** What it can be asked for outside of turns. */
  readonly controls: readonly ProgramControl[];
}

export function usePrograms(options: Omit<ProgramUnderTest, 'tested'>): ProgramUnderTest {
  let shared: TestedPrograms | undefined;
  beforeAll(async () => {
    shared = await options.create();
  }, PROGRAM_TEST_MS);
  afterAll(() => shared?.close());
  const tested = () => {
    if (shared === undefined) throw new Error('the engine is there only while tests run');
    return shared;
  };
  return { ...options, tested };
}
