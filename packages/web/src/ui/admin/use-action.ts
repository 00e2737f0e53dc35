import { useState } from 'react';
import { inBackground } from '../../stores/connection/in-background.ts';

/** Work that a person has asked for, one at a time, and why the last one failed. */
export interface Action {
  readonly isBusy: boolean;
  /** Empty: it did not fail. */
  readonly problem: string;
  readonly run: (work: () => Promise<void>) => void;
}

/** Runs what a button or a form does, and keeps what to show of it. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const start = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem('');
    try {
      await work();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run: (work) => inBackground(start(work)) };
}
