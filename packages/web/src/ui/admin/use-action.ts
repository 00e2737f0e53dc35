import { useState } from 'react';
import { inBackground } from '../../stores/connection/in-background.ts';

/** An action that a person requested, and why it failed. */
export interface Action {
  readonly isBusy: boolean;
  /** Why the last action failed; empty if it did not fail. */
  readonly problem: string;
  readonly run: (work: () => Promise<void>) => void;
}

/** Runs the action of a button or a form, and keeps its state for display. */
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
