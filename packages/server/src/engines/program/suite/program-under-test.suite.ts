import { afterAll, beforeAll } from 'vitest';
import type { ProgramCapabilities } from '../program-capabilities.ts';
import type { ProgramControl } from '../program-controls.ts';
import type { TestedPrograms } from './conversation.suite.ts';
import type { ProgramWords } from './words.suite.ts';

/** Time limit of one test: real programs take 20 times as long on a busy machine. */
export const PROGRAM_TEST_MS = 300_000;

export interface ProgramUnderTest {
  readonly create: () => Promise<TestedPrograms>;
  /** Returns the engine that the tests share. Each test opens programs of its own, and closes them. */
  readonly tested: () => TestedPrograms;
  readonly words: ProgramWords;
  /** The capabilities that the engine reports before the program runs. */
  readonly capabilities: ProgramCapabilities;
  /** The version that the program reports. */
  readonly version: string | null;
  /** Whether the gateway reads the text of sub-agents. */
  readonly isTapped: boolean;
  /** The control requests that the program supports. */
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
