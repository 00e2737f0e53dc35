/** Every number that bounds the scripted model. Each has a test at its edge. */
export const limits = {
  /** Characters of one script, in a conversation or in a file. */
  scriptCharsMax: 1_000_000,
  /** Entries of `turns` or `when`. */
  turnsMax: 1_000,
  /** Steps of one turn. */
  stepsMax: 1_000,
  /** How deep the input of a call, or the body of a request, may be nested. */
  depthMax: 200,
  /** Pieces into which one text is streamed. */
  chunksMax: 10_000,
  /** Longest wait between two pieces, and longest silence. */
  waitMsMax: 600_000,
  /** Attempts that one `fail` or `cut` may fail. */
  timesMax: 1_000,
  /** Longest `retry-after`: a day. */
  retryAfterSMax: 86_400,
  /** Tokens that a script may claim. */
  tokensMax: 1_000_000_000,
  /** Longest regular expression of `when`. */
  matchCharsMax: 1_000,
  /** Instructions of all regular expressions of one `when`, without plain texts. */
  matchSizeMax: 5_000,
  /** Regular expressions that are kept compiled: the same script is read again with every request. */
  matchesKeptMax: 200,
  /** Placeholders of one turn, and how many of them may search the conversation. */
  placeholdersMax: 10_000,
  findsMax: 100,
  /** Characters of one response: text, thinking and inputs of calls, placeholders filled in. */
  answerCharsMax: 1_000_000,
  /** Events of one response. */
  eventsMax: 100_000,
  /** Events that are emitted at once if there is no wait between them. */
  batchEventsMax: 64,
  /** Requests whose attempts are counted; the least recently counted one is forgotten first. */
  attemptsMax: 10_000,
  /** Characters of the name of a script, which is also the name of a file. */
  nameCharsMax: 64,
  /** Scripts listed from a directory. */
  userScriptsMax: 1_000,
  /** Models on one page, and the default. */
  modelsPageMax: 1_000,
  modelsPageDefault: 20,
  /** Messages of one request, and entries of its other lists, as in the real API. A body has room for fewer. */
  messagesMax: 100_000,
  /** Bytes of a request body, as in the real API: 32 MB. */
  bodyBytesMax: 32 * 1024 * 1024,
  /** Levels of the JSON of a body, before it is parsed: a little more than is allowed afterwards. */
  bodyDepthMax: 600,
  /**
   * Values of the JSON of a body, as many as on all other routes: parsing cannot be paused, and a million values take 200 ms. The limit allows
   * 16,000 messages of one text each; a request of the claude program has about 500, most of them in its tools.
   */
  bodyValuesMax: 50_000,
  /** How long the rest of a rejected body is read and discarded, so that its sender still receives the error. */
  lingerMs: 2_000,
} as const;
