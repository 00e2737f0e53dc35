import { ToolFailure } from '../tool-failure.ts';

/**
 * Runs a step of opening or launching a sandbox. When the machine has no descriptors, processes or memory left for it, that
 * says nothing about the sandbox: the tool call fails with a reason, and the next one tries again.
 */
export async function explainShortage<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof ToolFailure || !(error instanceof Error) || !SHORTAGE.test(error.message)) throw error;
    throw new ToolFailure(`the sandbox cannot be used now (${error.message}): call again later`, { cause: error });
  }
}

/** Descriptors, processes or memory of the machine are used up, in the words of Node and of shells. */
export const SHORTAGE =
  /EMFILE|ENFILE|EAGAIN|ENOMEM|Too many open files|Resource temporarily unavailable|Cannot allocate memory/;
