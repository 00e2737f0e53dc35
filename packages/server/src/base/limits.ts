/** Every number that bounds the server. Each has a test at its edge. */
export const limits = {
  /** Longest message of an error. What a caller sent may be part of it, and that has any length. */
  errorMessageCharsMax: 1_000,
  /** Latest time that an id can hold: ten characters of five bits. It is in the year 37658. */
  idTimeMsMax: 2 ** 50 - 1,
  /** The longest wait of one timer of Node, some 25 days. */
  timerMsMax: 2 ** 31 - 1,
  /** A pattern from outside, and the instructions that it stands for: to make so many takes up to 20 ms. */
  patternCharsMax: 1_000,
  patternSizeMax: 1_000,
  /** Steps of all patterns of one request: characters of the text times instructions. One takes about 10 ns. */
  patternStepsMax: 1_500_000,
  /** Events of one request to a session, as JSON, that are committed in the turn of the event loop in which they arrive. */
  sendAtOnceBytesMax: 64 * 1024,
  /** How long work that grows with a log or a list runs before sockets and timers are served. */
  loopSliceMs: 5,
  /** Background work that no caller waits for: its slice, its rest as a multiple of the slice, and its longest rest. */
  paceSliceMs: 1,
  paceRestFactor: 4,
  paceRestMsMax: 50,
  /** Removing what agents have written: operations at once, names read at a time, and the rest as a multiple of a slice. */
  removalOperationsMax: 2,
  removalEntriesRead: 64,
  removalRestFactor: 1,
  /** How long one removal works while others wait. */
  removalTurnMs: 250,
  /** Directories that were moved up and are remembered. The others are found by reading the directory again. */
  removalMovedMax: 1_000,
  /** How long a stop of the server removes what is left to remove. The next start continues. */
  removalStopMs: 3_000,
  /** When a removal that failed is tried again, and how often before the next start. */
  removalRetryMs: 60_000,
  removalAttemptsMax: 5,
  /** How much of the heap that V8 allows may be used before what needs much of it is refused. */
  heapShareMax: 0.7,
  /** What is left of that share when idle sessions are let go at once. */
  heapShortShare: 0.2,

  // The store and the log.
  /** One frame. What is sent in one request has to fit with our own words around it, and a request has 32 MiB. */
  frameBytesMax: 34 * 1024 * 1024,
  /** Items of one page of a list, as JSON. A single item may be larger, and is a page of its own. */
  pageBytesMax: 4 * 1024 * 1024,
  /** Items of one page of a list. */
  pageItemsMax: 1_000,
  /** Input that a session has not taken up. */
  pendingInputsMax: 1_000,
  /** A segment grows by small appends up to here. Two of them fill a page of the disk, which is written as a whole. */
  segmentGrowBytesMax: 2_000,
  /** A segment made at once. A single frame may be larger. */
  segmentBytesMax: 256 * 1024,
  /** Segments of which it is remembered whether they hold more than deltas. */
  segmentKindsMax: 10_000,
  /** Appends that wait for their commit, of all sessions. */
  logQueueBytesMax: 64 * 1024 * 1024,
  /** One commit: larger ones would keep the others waiting for long. */
  logCommitBytesMax: 4 * 1024 * 1024,
  /** What a reader is given at a time. A single frame may be larger. */
  logBatchBytesMax: 256 * 1024,
  logBatchEntriesMax: 4_096,
  /** Entries that are folded at a time: with what is made of them, that takes one or two milliseconds. */
  sliceEntriesMax: 256,
  /** Entries that paced background work reads at a time. */
  pacedEntriesMax: 64,
  /** The newest frames of one session that its readers share; who is further behind reads the store. */
  feedBytesMax: 256 * 1024,
  /** The same of all sessions together. */
  feedsBytesMax: 64 * 1024 * 1024,
  /** How often to look for frames of other processes of which no signal came. */
  logPollMs: 1_000,
  /** What one transaction of the embedded database removes or moves of a log: it holds the event loop for as long as it takes. */
  storeSliceBytesMax: 1024 * 1024,
  /** Rows that one transaction or statement of the embedded database looks at for a list without a limit. */
  storeSliceRowsMax: 200,
  /** Frames behind the newest checkpoint of a fold, or the start of its run, before another checkpoint is written. */
  checkpointFrames: 4_096,
  /** What has to have happened, deltas not counted, before the state of a session is kept. */
  stateCheckpointBytes: 256 * 1024,
  /** One checkpoint. A fold that is larger has none, and is made from the log. */
  checkpointBytesMax: 8 * 1024 * 1024,
  /** Sessions of which it is known how many frames lie behind their newest checkpoint. */
  checkpointSessionsMax: 10_000,
  /** A part of a file that is kept in the store: what is in memory of it while it is written or read. */
  blobPartBytes: 512 * 1024,
  /** What is removed of a deleted session at a time in SQLite. A single row may be larger. */
  eraseRowsMax: 256,
  eraseBytesMax: 1024 * 1024,
  /** How long one step of overwriting unused parts of pages may take, and how long others may work between two steps. */
  eraseStepMs: 15,
  erasePauseMs: 5,
  /** How long deletes are waited for that can share the overwriting. */
  eraseDelayMs: 100,
  /** When a deletion that failed is tried again. */
  eraseRetryMs: 10_000,
  /** Small rows of one session's log in PostgreSQL before they are put together. */
  segmentTailRowsMax: 64,
  /** Connections of one process to PostgreSQL for what is read and for records; commits and signals have three more. */
  databaseConnectionsMax: 8,
  /** How long a connection may take, and how long a query waits for one that is free. */
  databaseConnectMs: 10_000,
  /** How long one statement may run, wait for a lock, and a transaction do nothing. */
  databaseStatementMs: 30_000,
  databaseLockMs: 10_000,
  databaseIdleMs: 5_000,
  /** How long a database that is away is waited for: longer than a restart, shorter than a lease. */
  databasePatienceMs: 10_000,
  /** The first wait before another attempt; it doubles each time, up to the longest. */
  databaseRetryMs: 20,
  databaseRetryMsMax: 2_000,
  /** How often a transaction is repeated because others came first. */
  databaseConflictsMax: 20,
  /** How often to make sure that signals still come. */
  databaseListenCheckMs: 15_000,
  /** One signal. PostgreSQL takes less than 8000 bytes. */
  databaseSignalBytesMax: 7_900,
  /** Sessions that are told of at once when signals were lost; the others are found by the next look. */
  databaseCatchUpMax: 10_000,
  /** How often what nobody needs any more is removed. */
  databaseSweepMs: 60 * 60_000,
  /** How long what a dead process has left, half a file for one, is kept. */
  databaseAbandonedMs: 24 * 60 * 60_000,
  /** How long a piece of text waits for the next one, to become one frame with it. */
  deltaWindowMs: 5,
  /** A piece of text of this length does not wait. */
  deltaCharsMax: 16 * 1024,

  // The engines.
  /** All that one answer says, thinks and calls. The largest models say at most a tenth of it. */
  engineAnswerCharsMax: 8_000_000,
  /** One event of an answer that streams in. */
  engineEventBytesMax: 4 * 1024 * 1024,
  /** All bytes of an answer, unpacked: the events have ten times as many as the text in them. */
  engineAnswerBytesMax: 64 * 1024 * 1024,
  /** Content blocks of one answer. */
  engineBlocksMax: 1_000,
  /** JSON values of one event, and of all tool inputs of an answer: parsing more would hold the event loop. */
  engineValuesMax: 100_000,
  /** How long an answer may take. Pings are signs of life, so one could go on without end. */
  engineAnswerMs: 3_600_000,
  /** The beginning of an answer that is an error, and how long it is waited for. */
  engineErrorBytesMax: 64 * 1024,
  engineErrorMs: 10_000,
  /** How long an endpoint may take to begin an answer. Node's own patience ends after five minutes. */
  engineFirstByteMs: 240_000,
  /** How long an answer may be silent. Endpoints send a sign of life every few seconds. */
  engineSilenceMs: 240_000,
  /** Longest `retry-after` that is passed on: a day. */
  engineRetryAfterMsMax: 86_400_000,
  /** How full a context window may be before its history is summed up. */
  compactionFillPercent: 80,
  /** How much of the window a task may take to stay word for word when its history is summed up. */
  compactionTaskPercent: 10,
  /** What stays of each long result when a history has to fit into the window to be summed up. */
  compactionResultCharsMax: 2_000,
  /** Requests under way at one endpoint. The governor goes below it when the endpoint complains. */
  governorConcurrencyMax: 32,
  /** Requests that wait for their turn at one endpoint. */
  governorQueueMax: 1_000,
  /** Longest pause of an endpoint, whatever it asks for. */
  governorPauseMsMax: 600_000,

  // The HTTP door.
  /** One request's body. */
  bodyBytesMax: 32 * 1024 * 1024,
  /** Levels of a JSON body: a few more than content may have, for what is around it. */
  bodyDepthMax: 600,
  /** Values of a JSON body, containers included: what is checked within 100 ms. */
  bodyValuesMax: 50_000,
  /** Bodies that are on their way: of one key, and of all. */
  bodiesPerKeyBytesMax: 128 * 1024 * 1024,
  bodiesBytesMax: 512 * 1024 * 1024,
  /** A body from this size on is read only if the heap has room for it, so many times: as text, as values, and as a frame. */
  largeBodyBytes: 16 * 1024,
  bodyHeapFactor: 6,
  /** One request's line and headers together. */
  headerBytesMax: 32 * 1024,
  /** How long the headers of a request may take. */
  headersTimeoutMs: 20_000,
  /** How long a whole request may take to arrive; the answer may take longer. */
  requestTimeoutMs: 120_000,
  /** How long a connection without requests is kept. Longer than clients and proxies keep theirs, so that they close first. */
  keepAliveTimeoutMs: 75_000,
  /** Most connections, however many descriptors the process may open; and fewest, however few. */
  connectionsMax: 16_384,
  connectionsMin: 8,
  /** Descriptors that a server has open before the first connection, with a few to spare. */
  descriptorsAtStart: 32,
  /** How many the process may open where the machine does not say. */
  descriptorsElsewhere: 4_096,
  /** How long a connection has to show what it is for, before it may be closed to make room for another one. */
  connectionGraceMs: 5,
  /** Connections accepted beyond the maximum while the ones they replace are being closed. */
  connectionsSlack: 8,
  /** Requests that one connection has sent before the first of them was answered. No more are read until then. */
  pipelinedRequestsMax: 16,
  /** How long a client may take nothing of an answer. */
  answerStallMs: 60_000,
  /** How long a connection that was refused has to read why. */
  lingerMs: 1_000,
  /** How often it is reported that connections cannot be accepted. */
  acceptReportMs: 10_000,
  /** An id in a path. Ours have at most 33 characters. */
  pathIdCharsMax: 128,
  /** Values that one parameter of a query may have. */
  queryValuesMax: 100,
  /** Keys of a server, each a file. */
  apiKeysMax: 1_000,
  /** What seals the secrets that nodes share in their database. */
  nodeSecretCharsMin: 32,
  /** What is sent as a key; longer ones are not even looked up. Session tokens are the longest, with some 300. */
  secretCharsMax: 1_024,
  /** How long a key that was added or revoked by another process goes unnoticed. */
  apiKeysCheckMs: 400,
  /** How often credentials with open streams are looked up. With the time before, a revoked one is out within a second. */
  credentialCheckMs: 400,
  /** How long keys count as they were, while the machine has no descriptors left to look. */
  apiKeysStaleMs: 60_000,
  /** How long an answer is kept for an `Idempotency-Key`. */
  idempotencyMs: 24 * 60 * 60 * 1_000,
  idempotencyKeyCharsMax: 255,
  /** A larger request is carried out once as well, but its answer, which repeats it, is not kept. */
  replayBytesMax: 1024 * 1024,
  /** How long an answer is kept for a client that repeats a request without such a key. */
  retryGuardMs: 60_000,
  /** Items of one page of agents, versions or environments; and how many there are if nothing is asked for. */
  recordPageItemsMax: 100,
  recordPageItemsDefault: 20,
  /** The name of an agent, an environment, an MCP server or a tool of one. */
  nameCharsMax: 256,
  descriptionCharsMax: 2_048,
  systemCharsMax: 100_000,
  metadataKeyCharsMax: 64,
  metadataValueCharsMax: 512,
  /** Skills of one agent. */
  agentSkillsMax: 100,
  /** Domains that a web tool is limited to, or kept from. */
  toolDomainsMax: 64,
  /** Hosts that an environment may reach, and packages of one manager. */
  environmentEntriesMax: 1_000,
  /** What waits for one reader of a stream beyond what its socket took. Then it is cut off, and can resume. */
  streamBufferBytesMax: 4 * 1024 * 1024,
  /** What is given to a stream in one tick is one write, up to this much: who gives more at a time has to hear if it is too fast. */
  streamWriteBytesMax: 1024 * 1024,
  /** The longest silence of a stream. */
  streamPingMs: 10_000,
  /** How long a reader may take nothing while something waits for it. */
  streamStallMs: 60_000,
  /** Open streams of one key. */
  streamsPerKeyMax: 4_096,
  /** When readers come back after the server has said good-bye. */
  streamRetryMs: 1_000,
  /** Keys whose requests are counted. The one that was silent for longest is forgotten, and has its full share again. */
  rateBucketsMax: 10_000,
  /** How long requests that are under way have when the server stops. */
  shutdownGraceMs: 10_000,

  // Tools.
  /** Text of one result. What is longer goes to a file, and the model is told its beginning and its end. */
  toolTextCharsMax: 100_000,
  toolPreviewChars: 8_000,
  /** One image of a result, in bytes of base64: what the Messages API takes. */
  toolImageCharsMax: 5 * 1024 * 1024,
  /** A name that a model can call. */
  toolNameCharsMax: 128,
  /** Tool hosts of a server: processes with some 12 MiB of their own each. More sessions than this take turns. */
  toolHostsMax: 128,
  /** How long a session waits for one of them. */
  toolHostWaitMs: 30_000,
  /** A host with shells that was unused for so long makes room for another session, and its shells are lost. */
  toolHostShellIdleMs: 10 * 60_000,
  /** How long a host may take to start. A busy machine reads Node slowly. */
  toolHostStartMs: 20_000,
  /** How long a call may take; a command of bash has so much beyond its own time. */
  toolHostCallMs: 60_000,
  /** How long a call that was interrupted may take to stop. Shorter than `toolStopMsMax`, after which nobody waits for it. */
  toolHostCancelMs: 4_000,
  /** Calls of one host at a time, commands of bash not counted; each may hold a file of `fileEditBytesMax`. */
  toolHostCallsMax: 16,
  /** Commands of one host at a time. */
  toolHostCommandsMax: 64,
  /** The heap of a host, in MiB. */
  toolHostHeapMib: 256,
  /** A request to a host: what a model writes into a file, or an MCP server answers, written as JSON. */
  toolHostRequestBytesMax: 64 * 1024 * 1024,
  /** An answer of a host: six times what `read` gives, because JSON may need six bytes for one. */
  toolHostAnswerBytesMax: 2 * 1024 * 1024,
  /** What a host writes to stderr before it is ended. It has nothing to say there but why it crashes. */
  toolHostStderrBytesMax: 64 * 1024,
  bashTimeoutMs: 120_000,
  bashTimeoutMsMax: 600_000,
  /** The end of what a command says. */
  bashOutputBytesMax: 100 * 1024,
  /** How long to wait for the last words of a shell that ended, when something still holds its output open. */
  bashDrainMs: 500,
  /** What `read` gives at once. */
  fileReadBytesMax: 256 * 1024,
  /** A file that is edited, before and after. */
  fileEditBytesMax: 8 * 1024 * 1024,
  /** How far `read` looks for the lines that it was asked for. */
  fileScanBytesMax: 128 * 1024 * 1024,
  /** Symbolic links on the way to one file, as Linux has it. */
  fileLinksMax: 40,
  globResultsMax: 200,
  /** Patterns that one pattern with braces stands for. */
  globAlternativesMax: 256,
  /** All of them together. */
  globAlternativesCharsMax: 8_192,
  globOutputBytesMax: 100 * 1024,
  globTimeoutMs: 30_000,
  globPatternCharsMax: 1_000,
  /** Directory entries that one search looks at. */
  walkEntriesMax: 100_000,
  walkDepthMax: 64,
  grepPatternCharsMax: 4_000,
  grepOutputBytesMax: 100 * 1024,
  grepLineCharsMax: 2_000,
  /** What is searched of a line without ripgrep. The worst patterns take 20 µs for a byte, and cannot be interrupted. */
  grepMatchBytesMax: 64 * 1024,
  /** A file that is searched without ripgrep. Larger ones are left out, and the result says so. */
  grepFileBytesMax: 16 * 1024 * 1024,
  grepTimeoutMs: 30_000,
  /** What a page has after unpacking. */
  webFetchBytesMax: 10 * 1024 * 1024,
  webFetchTimeoutMs: 30_000,
  webFetchConnectMs: 10_000,
  webFetchRedirectsMax: 5,
  webFetchUrlCharsMax: 2_000,
  webFetchCacheEntriesMax: 32,
  webFetchCacheCharsMax: 4 * 1024 * 1024,
  webFetchCacheMs: 15 * 60_000,
  /** Addresses that a session was shown, remembered for agents that may fetch only such. The oldest are forgotten. */
  shownUrlsMax: 10_000,
  mcpConnectMs: 10_000,
  mcpCallMs: 300_000,
  /** How long a server that failed is left alone. */
  mcpRetryMs: 5_000,
  /** How long connecting may take with all that belongs to it, and how long listing all tools may. */
  mcpSetupMs: 30_000,
  mcpListPagesMax: 64,
  mcpToolsMax: 1_000,
  /** All pages of a list of tools, and the definition of one tool. */
  mcpListBytesMax: 4 * 1024 * 1024,
  mcpToolBytesMax: 256 * 1024,
  /** One answer. Parsing a larger one, or one of more values, would hold the event loop for more than 50 ms. */
  mcpAnswerBytesMax: 6 * 1024 * 1024,
  mcpAnswerValuesMax: 50_000,
  mcpDepthMax: 100,
  /** Fields of a message, and of what is directly in it. The library checks each of them. */
  mcpMessageFieldsMax: 1_000,
  /** The handshake: what a server reports about itself. */
  mcpHandshakeBytesMax: 256 * 1024,
  mcpHandshakeValuesMax: 1_000,
  /** Messages of one answer: its result, and what the server reports in the meantime. */
  mcpAnswerMessagesMax: 10_000,
  /** Content blocks of one result. */
  mcpBlocksMax: 1_000,
  /** The body of an answer with status 400. Those of other errors are not read. */
  mcpErrorBytesMax: 64 * 1024,
  /** One message of the stream that a server notifies us on, and all its messages within a time. */
  mcpNotificationBytesMax: 1024 * 1024,
  mcpNotificationValuesMax: 1_000,
  mcpStreamBytesMax: 4 * 1024 * 1024,
  mcpStreamMessagesMax: 6_000,
  mcpStreamWindowMs: 60_000,
  /** The first wait before such a stream is opened again; it doubles unless the stream lasted, up to the longest. */
  mcpStreamRetryMs: 1_000,
  mcpStreamRetryMsMax: 60_000,
  /** Notifications and answers on their way to one server. */
  mcpNoticesMax: 16,
  /** Connections to MCP servers, of all sessions. Each has a few sockets. */
  mcpConnectionsMax: 1_000,
  /** Parts of messages that have not ended: of one connection, and of all. */
  mcpConnectionBytesMax: 32 * 1024 * 1024,
  mcpHeldBytesMax: 256 * 1024 * 1024,
  /** The same as a share of the heap, where that is less: each is on the heap several times while it is read. */
  mcpHeldHeapShare: 1 / 16,
  /** How long a call waits whose answer broke off: some servers let their clients take up where they were. */
  mcpResumeMs: 10_000,

  // The sandbox: what one launch in it may take of the machine. Threads count as processes.
  sandboxProcessesMax: 1_024,
  /** Of all its processes together, temporary files included. Only a memory cgroup holds them to it. */
  sandboxMemoryBytesMax: 4 * 1024 ** 3,
  /** Private writable memory of one process. Bun, which Claude Code is built with, reserves 5.3 GiB at its start. */
  sandboxDataBytesMax: 16 * 1024 ** 3,
  /** Address space of one process. Each WebAssembly memory of Node reserves 10 GiB of it, and Java with ZGC 293 GiB. */
  sandboxAddressBytesMax: 1024 ** 4,
  sandboxOpenFilesMax: 4_096,
  sandboxFileBytesMax: 4 * 1024 ** 3,
  sandboxLockedBytesMax: 64 * 1024,
  /** Processor time of one process, all its threads together. A build on 16 cores takes 4 h in 15 minutes. */
  sandboxCpuSecondsMax: 24 * 60 * 60,
  /** Each of `/tmp`, the home directory and `/dev/shm`, which are in memory; never more than an eighth of the machine's. */
  sandboxTemporaryBytesMax: 1024 ** 3,
  /** What all launches together may take of the memory and of the process ids of the machine. */
  sandboxesMemoryPercent: 75,
  sandboxesProcessesPercent: 50,
  /** How long a launch may take from its preparation to its start, before its cgroup counts as abandoned. */
  sandboxJoinMs: 10_000,
  /** How often cgroups whose processes have ended are removed. */
  sandboxSweepMs: 2_000,

  // The door to sessions.
  /** Events of one request. */
  sentEventsMax: 100,
  /** Events that a session is created with. */
  initialEventsMax: 50,
  /** Blocks of one system message. */
  systemBlocksMax: 1_000,
  /** The rule that an answer to an ask was given by. */
  ruleCharsMax: 4_096,
  /** Title of a session. */
  titleCharsMax: 512,
  /** How deep agents of an orchestrated request delegate. */
  orchestrateDepthMax: 2,
  /** An `Idempotency-Key` of an orchestrated request. */
  orchestrateKeyCharsMax: 256,
  /** How long a cancel waits for what it stops. */
  cancelWaitMs: 1_000,
  /** Agents of a workspace that an orchestrated request may delegate to. */
  crewMax: 100,
  /**
   * How long after a send the first stream begins with what the send has led to. Two seconds are enough for any client
   * that does nothing else meanwhile; a busy machine takes longer.
   */
  catchUpMs: 5_000,

  // Views.
  /** What a reader of a fleet stream is given at a time. A single event may be larger. */
  fleetBatchBytesMax: 64 * 1024,
  /** The newest events that readers of one session with the same options share; who is further behind reads the log. */
  fleetChannelBytesMax: 1024 * 1024,
  /** The same of all sessions together. */
  fleetChannelsBytesMax: 64 * 1024 * 1024,
  /** Sessions that a stream of all of them follows at the same time; more wait until one of them has no new events. */
  fleetWatchedSessionsMax: 4_096,
  /** Sessions that such a stream remembers, beside open ones and those that received an event within the last 30 s. */
  fleetKnownSessionsMax: 2_000,
  /** Sessions that the id of such a stream names: a request has to have room for it twice. */
  fleetTokenSessionsMax: 256,
  /** How often such a stream says where its reader is: after so long, or so much. */
  fleetCheckpointMs: 100,
  fleetCheckpointBytes: 8 * 1024,
  /** How often it looks for sessions of which no signal came. */
  fleetLookMs: 2_000,
  /** How far clocks, and what was decided and what was written, may be apart. */
  fleetMarginMs: 30_000,
  /** Files that agents write, as far as one run shows them to its readers. */
  runFilesBytesMax: 4 * 1024 * 1024,
  /** Frames that are read at a time on the way back through a log. */
  backwardFramesMax: 1_000,
  /** What such a read holds at a time. A single frame may be larger. */
  backwardBytesMax: 4 * 1024 * 1024,

  // Sessions.
  /** Threads of one session that are not terminated, the primary one not counted. */
  liveChildrenMax: 25,
  /** The same where every delegation is a thread of its own: those at work. Sixteen with sixteen each, and who sent them. */
  busyChildrenMax: 272,
  /** What one answer, result, summary or event of a client brings into a session. A frame has room for it and our words. */
  contentBytesMax: 33 * 1024 * 1024,
  /** What a fork takes over of a log, without deltas: it is written at once. */
  forkBytesMax: 64 * 1024 * 1024,
  /** How deep it is nested. Node reads JSON of any depth, and cannot write what it has read from a few thousand levels on. */
  contentDepthMax: 500,
  /** Tasks of one call of `delegate`. */
  delegateTasksMax: 16,
  /** Tasks that the text commands of one answer may give; the commands behind them are refused. */
  textCommandTasksMax: 300,
  /** Answers of one turn in which quoted commands are reported to the model; in later ones they are only text. */
  quotedReportsMax: 3,
  /** Text commands that a thread may read in what others wrote. With one more, all that it gives are refused. */
  seenCommandsMax: 1_000,
  /** Letters of each that are compared, how far they are looked for, and how far back a name may have begun. */
  seenCommandLetters: 256,
  seenCommandWindowChars: 1_024,
  seenCommandTailChars: 64,
  /** The beginning of a text where only a hint of it is wanted. */
  excerptCharsMax: 200,
  /** Model requests of one turn: an agent that has not ended by then goes in circles. */
  turnRequestsMax: 500,
  /** Attempts after the first one that failed, before the turn is given up. */
  requestRetriesMax: 5,
  /** Summaries in a row that may be asked for before the turn is given up. */
  turnCompactionsMax: 2,
  /** The first wait before another attempt; it doubles each time, up to the longest. */
  retryDelayMs: 500,
  retryDelayMsMax: 30_000,
  /** Deltas of one request that wait for the disk, before its engine waits too. */
  pendingDeltasMax: 256,
  /** Inputs that are taken up at a time. */
  inputsTakenMax: 100,
  /** How long a session belongs to who has taken it, if that one is not heard of. */
  leaseMs: 15_000,
  /** How often leases are renewed, and sessions without an owner looked for. */
  hostTickMs: 2_000,
  /** A session that nobody needs for so long is let go; its log stays. */
  hostIdleMs: 60_000,
  /**
   * Programs that are kept although their session has been idle for `hostIdleMs`, because an approval is open or something
   * runs in the background. Each takes about 200 MB of memory. With one more, the one that was idle longest is ended.
   */
  idleProgramsMax: 50,
  /** Sessions without an owner that are taken at a time. */
  orphansTakenMax: 100,
  /** How long a run can be asked for by its id. */
  runKeyMs: 90 * 24 * 60 * 60 * 1_000,
  /** How long a tool that was told to stop is waited for. */
  toolStopMsMax: 5_000,
  /** How often deltas that are no longer wanted are looked for. */
  retentionMs: 60 * 60_000,
  /** Sessions that are listed at a time for it. */
  retentionPageItems: 100,

  // Nodes: several processes on one store.
  /** `leaseMs` and `hostTickMs` of theirs: whoever dies is replaced within seconds. */
  sharedLeaseMs: 5_000,
  sharedTickMs: 1_000,
  /** In how many ticks each owned session is looked at once for input of which no signal came, where a look has its price. */
  sharedPollTicks: 10,
  /** Sessions without an owner that are looked at there: of those it takes its share, at most `orphansTakenMax`. */
  sharedOrphansMax: 5_000,
  /** How long it is believed that another node has the workspace of a session. */
  elsewhereMs: 5_000,
  /** Sessions at work that one process owns; more wait until others have room, or one ends. */
  busySessionsMax: 2_000,
  /** How long one process waits for another one that owns the session: longer than a dead one is believed alive. */
  ownerWaitMs: 10_000,
  /** How often it looks meanwhile: soon at first, then less often. */
  ownerLookMs: 5,
  ownerLookMsMax: 200,
  /** How long it is known what became of a command that another process carried out. */
  commandOutcomeMs: 10 * 60_000,
  /** How long tools that run may go on when their process is asked to stop. */
  handOverToolsMs: 5_000,
  /** How often a node says that it is there, and how long it counts after that. */
  nodeBeatMs: 2_000,
  nodeAliveMs: 8_000,
  /** How long it is known that there was a node. */
  nodeForgottenMs: 24 * 60 * 60_000,
  /** How long a node may be gone before the workspaces on its disk count as lost: long enough for a restart. */
  homeGoneMs: 60_000,
  /** Sessions of which a node remembers that it has written down where they live. */
  homesKnownMax: 100_000,
  /** How long a node that is at a request, which nobody else may carry out meanwhile, is waited for. */
  claimMs: 30_000,
  /** How long it counts as being at it after it has said so, which it does again and again. */
  claimLeaseMs: 6_000,
  /** How often a node looks whether another one asks for something on its disk, and how long the other one waits. */
  nodeMailLookMs: 200,
  nodeMailWaitMs: 30_000,
  /** How long one waits for what a session does at this moment: later it is not true any more. */
  healthWaitMs: 3_000,
  /** Questions that are answered at a time. */
  nodeMailsMax: 20,
  /** How often one of the nodes removes what nobody came for. */
  sweepMs: 60_000,
  /** How long a node waits for its database when it is asked whether it is ready. */
  readyMs: 2_000,

  // Agents and environments.
  /**
   * The definition of an agent or an environment as JSON. The longest system prompt, description and metadata take at most 700 kB
   * of it, if each character is escaped; every list of agents and every session repeats it.
   */
  definitionBytesMax: 1024 * 1024,
  /**
   * The agent of a session with its roster spelled out: an agent and 20 members have room for the longest system prompts. Creating
   * a session writes it several times, and each change of the session again.
   */
  sessionAgentBytesMax: 2.5 * 1024 * 1024,
  /** Tools of one agent, over all its toolsets. */
  agentToolsMax: 256,
  /** MCP servers of one agent. */
  mcpServersMax: 20,
  /** Keys of the metadata of an agent, an environment or a session. */
  metadataPairsMax: 16,
  /** Whom one agent can delegate to. */
  rosterMembersMax: 20,
  /** How often an update of an agent or an environment is made anew because others came first. */
  updateAttemptsMax: 20,

  // Work of self-hosted environments.
  /** How long a worker keeps an item without being heard of, if it asks for nothing else. */
  workLeaseMs: 90_000,
  workLeaseMsMax: 3_600_000,
  /** How long a poll may wait for work. */
  workBlockMsMax: 999,
  /** How long an item that was handed out is waited for to be taken up, if a poll says nothing else. */
  workReclaimMs: 5_000,
  workReclaimMsMax: 86_400_000,
  /** How often an item is queued again because its worker left the session unfinished, with nothing new sent to it. */
  workRetriesMax: 3,
  /** How long a worker counts as polling after it has polled. */
  workerSeenMs: 30_000,
  /** Workers that are counted, of all environments. */
  workersSeenMax: 10_000,
  /** The name that a worker gives itself. */
  workerIdCharsMax: 256,
  /** How long the token of a session that a worker is given is good for. */
  sessionTokenMs: 24 * 60 * 60 * 1_000,

  // Files.
  /** One file that is uploaded. */
  uploadBytesMax: 500 * 1024 * 1024,
  /** The headers of one part of an upload. */
  uploadHeaderBytesMax: 8 * 1024,
  /** Parts of one upload: a file, and fields beside it. */
  uploadPartsMax: 16,
  /** What stands before the first part of an upload. */
  uploadPreambleBytesMax: 8 * 1024,
  /** A part of an upload that is no file. */
  uploadFieldBytesMax: 1_024,
  uploadNameCharsMax: 255,
  /** Files of a whole server. */
  uploadsMax: 100_000,
  /** A file that a model is shown. As base64 it is a third more, and a request has 32 MiB. */
  shownFileBytesMax: 20 * 1024 * 1024,
  /** All files that one model request shows, as a request has room for them. */
  shownFilesBytesMax: 24 * 1024 * 1024,
  /** How often a file is read for a program while the machine has no descriptors left, and how long to wait between. */
  shownFileAttemptsMax: 10,
  shownFileRetryMs: 200,
  /** Files that are read at the same time for one list. */
  filesAtOnceMax: 8,
  /** Files that one session has mounted. */
  sessionResourcesMax: 100,
  mountPathCharsMax: 1_024,
  /** How long files may take to be mounted. What is older and belongs to no session was left by a crash. */
  mountingMs: 60 * 60_000,
  /** One name in a path, as file systems have it. */
  pathNameBytesMax: 255,
  /** Files that are listed of what one session has put out. */
  outputFilesMax: 10_000,
  /** Entries, directories included, that are looked at for such a list: to sort them takes some 15 ms. */
  outputEntriesMax: 20_000,
  /** Lists of outputs that wait for another one of the same workspace, each of another session. */
  outputScansWaitingMax: 100,
  /** Paths of outputs that are found by their ids without a list. */
  outputPathsBytesMax: 16 * 1024 * 1024,

  // The dashboard.
  /** How long a login link works. */
  loginCodeMs: 10 * 60_000,
  /** Login links that wait to be used; the oldest goes first. */
  loginCodesMax: 100,
  /** What the sign-in form sends: a key, and its field. */
  loginBodyBytesMax: 4 * 1024,
  /** Browsers that are signed in; the one that signed in first is signed out. */
  loginsMax: 2_000,
  /** How long a browser stays signed in. */
  webSessionMs: 30 * 24 * 60 * 60 * 1_000,

  // The gateway of the claude program, and the search for it.
  /** Requests of one session under way at a time: more than agents that work at once, and each has one. */
  gatewayRequestsMax: 256,
  /** The body of one request through the gateway, which is what the Messages API takes. */
  gatewayRequestBytesMax: 32 * 1024 * 1024,
  /** Requests of one session to its MCP servers under way at a time; each server has one that stays open. */
  gatewayMcpRequestsMax: 128,
  /** Connections of one session to hosts that its environment allows. */
  gatewayTunnelsMax: 64,
  /** How long a host may take to accept such a connection. */
  gatewayConnectMs: 15_000,
  /** Connections to the socket of one session. Each is a descriptor of the server, and a program has 20 agents at a time. */
  gatewaySocketConnectionsMax: 128,
  /** Connections of all programs to the port that they share without a sandbox, and at most an eighth of the descriptors. */
  gatewayPortConnectionsMax: 4_096,
  /** What waits to be unpacked of one answer that passes by. Then it passes unread. */
  gatewayTapBytesMax: 4 * 1024 * 1024,
  /** The beginning of a refusal, where the reason is. */
  gatewayRefusalBytesMax: 16 * 1024,
  /** How long the program may take to say its version. It is a large file, which a busy machine reads slowly. */
  claudeVersionMs: 20_000,

  // Sessions that are imported.
  /** How long a session that is followed belongs to who follows it, without a word from there. */
  importLeaseMs: 60_000,
  /** Sessions that clients follow and of which the server knows what their threads do. */
  importsFollowedMax: 1_000,
  /** Frames that are written at a time. */
  importFramesMax: 1_000,
  /** How long it is known what was imported: ten years. */
  importKeyMs: 10 * 365 * 24 * 60 * 60 * 1_000,
  /** Steps of one request. */
  importStepsMax: 2_000,
  /** How the program names a conversation or an agent. */
  importNameCharsMax: 128,

  // Programs that run whole sessions.
  /** One line of a program, and its JSON values. A longer one is passed over. */
  programLineBytesMax: 8 * 1024 * 1024,
  programLineValuesMax: 100_000,
  /** What a program may write without any event. Then it is ended. */
  programNoiseBytesMax: 64 * 1024 * 1024,
  /** What a program has said and nobody has read. Then it has to wait. */
  programQueueBytesMax: 4 * 1024 * 1024,
  /** What is taken of it at a time: one write of the session. */
  programTakeBytesMax: 256 * 1024,
  /** Writes of a session that wait for the disk before no more is taken. */
  programWritesMax: 2,
  /** What a program was told and has not read. Then it has hung, and is ended. */
  programInputCharsMax: 64 * 1024 * 1024,
  /** How long a prompt waits until the program has reported the settings it has loaded. Then the prompt is sent without the report. */
  programSettingsMs: 10_000,
  /** Entries of each kind in the report of loaded settings. */
  programSettingsMax: 100,
  /** How long a fork waits until the program has written the last message to its transcript. */
  programTranscriptMs: 5_000,
  /** The transcript of a program that is copied when its session is forked. A session with a longer one cannot be forked. */
  programTranscriptBytesMax: 256 * 1024 * 1024,
  /** A file that a program's agent has edited, in the log and on fleet streams. A larger one is left out. */
  programFileBytesMax: 256 * 1024,
  /** What the gateway saw of a sub-agent before its lines have come so far. Then it is told block by block. */
  programTappedEventsMax: 10_000,
  /** The end of what a program complains about. */
  programStderrChars: 4_000,
  /** How long a program that is closed may take to end by itself, and after it was told to. */
  programEndMs: 5_000,
  programTermMs: 3_000,
  /** How much of one sub-agent's transcript one process of the program has read: bytes, lines, and content blocks. */
  transcriptBytesMax: 32 * 1024 * 1024,
  transcriptLinesMax: 100_000,
  transcriptBlocksMax: 20_000,
  /** Content blocks of one record of a transcript: the program writes a record for each block. */
  transcriptRecordBlocksMax: 1_000,
  /** Longest id of a call in a transcript. */
  transcriptIdCharsMax: 256,
  /** Transcripts that are read at the same time, of all sessions. */
  transcriptReadsMax: 4,
  /** Transcripts and calls of a session that are known at a time. */
  transcriptFilesMax: 10_000,
  /** Names that one search for transcripts reads in all directories. */
  transcriptEntriesMax: 20_000,
  /** How long the server waits for the transcript of a sub-agent, and how often it looks. */
  transcriptWaitMs: 5_000,
  transcriptPollMs: 25,
  /** How long a permission request waits for the line that lists its agent, if a workflow runs. */
  workflowAgentMs: 3_000,
  /**
   * A transcript of an agent that has completed, or was stopped, is complete when it was not written to for this long,
   * whatever its last record is.
   */
  transcriptQuietMs: 2_000,
  transcriptStoppedMs: 500,
  /** How long a turn is waited for that a program should begin by itself. */
  programExpectMs: 10_000,
  /** How long a program may take to stop what it was told to stop. */
  programStopMs: 15_000,
  /** How long after its time a wake-up of a program may still come: programs look once a minute, and turns come first. */
  wakeUpGraceMs: 3 * 60_000,
  /** How long a repeated wake-up of a program keeps it: after that time the program ends it, too. */
  wakeUpDaysMs: 7 * 24 * 60 * 60_000,

  // Webhooks.
  /** Addresses that one server tells of its sessions. */
  webhooksMax: 10,
  /** How long an address may take to answer. */
  webhookAnswerMs: 5_000,
  /** The first wait after an event was not taken; it doubles each time, up to the longest. */
  webhookRetryMs: 1_000,
  webhookRetryMsMax: 60_000,
  /** Sessions of which one address is told at the same time. */
  webhookSessionsAtOnceMax: 4,
  /** Sessions that wait for an address; more are found again when these are through. */
  webhookWaitingSessionsMax: 10_000,
  /** What is older than this is told to nobody any more. */
  webhookKeepMs: 3 * 24 * 60 * 60 * 1_000,
  /** How often to look for sessions of which an address was not told, because somebody crashed or there was no room. */
  webhookLookMs: 15_000,
  /** A session at work that changed so lately has somebody who tells of it; also how far the clocks of nodes may differ. */
  webhookMarginMs: 60_000,
  /** How often to look at all sessions of which an address was ever told: deleted ones are in no list. */
  webhookSweepMs: 10 * 60_000,
  /** How long a node that tells of a session keeps the others from it, if it is not heard of. */
  webhookClaimMs: 30_000,
} as const;
