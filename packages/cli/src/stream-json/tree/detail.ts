import { limits } from '../../base/limits.ts';

/** How much of each agent is drawn. */
export interface Detail {
  /** Newest calls of a running agent, and of an ended one. */
  calls: readonly [running: number, ended: number];
  /** Newest texts of a running agent and of an ended one, and the number of lines of each. */
  texts: readonly [running: number, ended: number];
  textLines: number;
  thoughts: number;
  /** Lines of the main agent's newest text. */
  answerLines: number;
  turns: number;
  /** Whether the line of the agent shows its current activity if its calls are not drawn. */
  now: boolean;
  /** Whether successful agents are only counted. */
  countEnded: boolean;
}

/** The detail level for more agents than rows. */
export const BAREST_DETAIL = detail({ now: true, countEnded: true });

/** Detail levels of the live tree, from most to least; the first that fits the screen is used. */
export const DETAILS: readonly Detail[] = [
  detail({ calls: [50, 50], texts: [50, 50], textLines: 6, thoughts: 50, answerLines: 30, turns: 50 }),
  detail({ calls: [20, 20], texts: [1, 1], textLines: 3, thoughts: 1, answerLines: 12, turns: 5 }),
  detail({ calls: [10, 5], texts: [1, 1], textLines: 2, answerLines: 8, turns: 2 }),
  detail({ calls: [3, 3], texts: [1, 1], answerLines: 5 }),
  detail({ calls: [2, 0], texts: [1, 1], answerLines: 3 }),
  detail({ calls: [1, 0], texts: [1, 0], answerLines: 2 }),
  detail({ calls: [1, 0], now: true, answerLines: 2 }),
  detail({ now: true }),
  BAREST_DETAIL,
];

/** Detail levels of the final tree: everything except very long lists; the answer is always shown. */
export const FINAL_DETAILS: readonly Detail[] = [
  detail({
    calls: [50, 50],
    texts: [50, 50],
    textLines: 6,
    thoughts: 50,
    answerLines: limits.answerRowsMax,
    turns: 50,
  }),
  detail({ calls: [20, 20], texts: [1, 1], textLines: 6, answerLines: limits.answerRowsMax, turns: 20 }),
  detail({ calls: [5, 5], texts: [1, 1], textLines: 3, answerLines: limits.answerRowsMax, turns: 5 }),
  detail({ texts: [1, 1], textLines: 1, answerLines: limits.answerRowsMax }),
  detail({ answerLines: limits.answerRowsMax }),
  detail({ answerLines: limits.answerRowsMax, countEnded: true }),
];

function detail(some: Partial<Detail>): Detail {
  return {
    calls: [0, 0],
    texts: [0, 0],
    textLines: 1,
    thoughts: 0,
    answerLines: 1,
    turns: 1,
    now: false,
    countEnded: false,
    ...some,
  };
}
