/** Limits that several folders share. Each has a test at its edge. */
export const baseLimits = {
  /** Longest message of an error. It may quote the caller, whose text has any length. */
  errorMessageCharsMax: 1_000,
  /** Latest time that an id can hold: ten characters of five bits. It is in the year 37658. */
  idTimeMsMax: 2 ** 50 - 1,
  /** The longest wait of one timer of Node, some 25 days. */
  timerMsMax: 2 ** 31 - 1,
  /** Length of a pattern from outside, and its compiled instructions: compiling that many takes up to 20 ms. */
  patternCharsMax: 1_000,
  patternSizeMax: 1_000,
  /** Steps of all patterns of one request: characters of the text times instructions. One takes about 10 ns. */
  patternStepsMax: 1_500_000,
  /** How long work that grows with a log or a list runs before sockets and timers are served. */
  loopSliceMs: 5,
  /** How often the delay of the event loop is measured, and the time over which its maximum is taken. */
  loopLagTickMs: 50,
  loopLagWindowMs: 15_000,
  loopBusyMs: 500,
  /** Background work that no caller waits for: its slice, its pause as a multiple of the slice, and its longest pause. */
  paceSliceMs: 1,
  paceRestFactor: 4,
  paceRestMsMax: 50,
  /** Removing directories of agents: concurrent operations, names read at a time, and the pause as a multiple of a slice. */
  removalOperationsMax: 2,
  removalEntriesRead: 64,
  removalRestFactor: 1,
  /** How long one removal works while others wait. */
  removalTurnMs: 250,
  /** Directories that were moved up and are remembered. The others are found by reading the directory again. */
  removalMovedMax: 1_000,
  /** How long a stopping server continues to remove discarded directories. The next start removes the rest. */
  removalStopMs: 3_000,
  /** When a removal that failed is tried again, and how often before the next start. */
  removalRetryMs: 60_000,
  removalAttemptsMax: 5,
  /** The share of V8's heap limit above which requests that need much memory are rejected. */
  heapShareMax: 0.7,
  /** The free share of the heap below which idle sessions are released at once. */
  heapShortShare: 0.2,
  /** One request's body, as the official API allows. */
  bodyBytesMax: 32 * 1024 * 1024,
  /** Levels of a JSON body: a few more than content may have, for the fields around it. */
  bodyDepthMax: 600,
  /** Values of a JSON body, containers included: what is checked within 100 ms. */
  bodyValuesMax: 50_000,
  /** One request's line and headers together. */
  headerBytesMax: 32 * 1024,
  /** How long the headers of a request may take. */
  headersTimeoutMs: 20_000,
  /** How long a whole request may take to arrive; the answer may take longer. */
  requestTimeoutMs: 120_000,
  /** How long a connection without requests is kept. Longer than clients and proxies keep theirs, so that they close first. */
  keepAliveTimeoutMs: 75_000,
  /** Assumed limit of open files where the system does not report one. */
  descriptorsElsewhere: 4_096,
  /** How long a rejected connection is kept open so that the client can read the reason. */
  lingerMs: 1_000,
  /** The name of an agent, an environment, an MCP server or a tool of one. */
  nameCharsMax: 256,
  /** A name that a model can call. */
  toolNameCharsMax: 128,
  webFetchUrlCharsMax: 2_000,
  /** Nesting of content. Node parses JSON of any depth, but cannot serialise more than a few thousand levels. */
  contentDepthMax: 500,
  /** The names that a program gives to agents, calls, blocks and requests. */
  foreignNameCharsMax: 512,
  /** Tasks of the plan of an agent, and characters of each. Further tasks are left out. */
  planTasksMax: 100,
  planTaskCharsMax: 500,
  /** The beginning of a text where only a hint of it is wanted. */
  excerptCharsMax: 200,
  /** Retries of a failed model request before the turn fails. */
  requestRetriesMax: 5,
  /**
   * The definition of an agent or an environment as JSON. The longest system prompt, description and metadata take at most 700 kB
   * of it, if each character is escaped; every list of agents and every session repeats it.
   */
  definitionBytesMax: 1024 * 1024,
  /** Keys of the metadata of an agent, an environment or a session. */
  metadataPairsMax: 16,
  /** How often an update of an agent or an environment is repeated because of concurrent updates. */
  updateAttemptsMax: 20,
  /** Files that are read at the same time for one list. */
  filesAtOnceMax: 8,
} as const;
