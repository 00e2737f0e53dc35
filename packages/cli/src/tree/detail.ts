/** How much of each agent is drawn. */
export interface Detail {
  /** Newest calls of an agent that is at work, and of one that has ended. */
  callsRunning: number;
  callsEnded: number;
  /** Newest texts, and of each so many lines. */
  textsRunning: number;
  textsEnded: number;
  textLines: number;
  thoughts: number;
  /** Lines of the main agent's newest text. */
  answerLines: number;
  turns: number;
  /** What an agent is at, on its own line: for when its calls are not drawn. */
  now: boolean;
  /** Agents that ended well are only counted. */
  countEnded: boolean;
}

/** From the richest to the barest. The live tree takes the first that fits the screen. */
export const DETAILS: readonly Detail[] = [
  detail({ callsRunning: 50, callsEnded: 50, textsRunning: 50, textsEnded: 50, textLines: 6, thoughts: 50, answerLines: 30, turns: 50 }),
  detail({ callsRunning: 20, callsEnded: 20, textsRunning: 1, textsEnded: 1, textLines: 3, thoughts: 1, answerLines: 12, turns: 5 }),
  detail({ callsRunning: 10, callsEnded: 5, textsRunning: 1, textsEnded: 1, textLines: 2, thoughts: 0, answerLines: 8, turns: 2 }),
  detail({ callsRunning: 4, callsEnded: 2, textsRunning: 1, textsEnded: 1, textLines: 1, thoughts: 0, answerLines: 5, turns: 1 }),
  detail({ callsRunning: 2, callsEnded: 0, textsRunning: 1, textsEnded: 1, textLines: 1, thoughts: 0, answerLines: 3, turns: 1 }),
  detail({ callsRunning: 1, callsEnded: 0, textsRunning: 1, textsEnded: 0, textLines: 1, thoughts: 0, answerLines: 2, turns: 1 }),
  detail({ callsRunning: 1, now: true, answerLines: 2, turns: 1 }),
  detail({ now: true, answerLines: 1, turns: 1 }),
  detail({ now: true, answerLines: 1, turns: 1, countEnded: true }),
];

/** What stays on the screen when the run is over: whole, but for the longest lists. */
export const FINAL_DETAIL: Detail = detail({
  callsRunning: 50,
  callsEnded: 30,
  textsRunning: 50,
  textsEnded: 50,
  textLines: 6,
  thoughts: 50,
  answerLines: 400,
  turns: 50,
});

function detail(some: Partial<Detail>): Detail {
  return {
    callsRunning: 0,
    callsEnded: 0,
    textsRunning: 0,
    textsEnded: 0,
    textLines: 1,
    thoughts: 0,
    answerLines: 1,
    turns: 0,
    now: false,
    countEnded: false,
    ...some,
  };
}
