/** Every number that bounds the server. Each has a test at its edge. */
export const limits = {
  /** Longest message of an error. What a caller sent may be part of it, and that has any length. */
  errorMessageCharsMax: 1_000,
  /** Latest time that an id can hold: ten characters of five bits. It is in the year 37658. */
  idTimeMsMax: 2 ** 50 - 1,
  /** The longest wait of one timer of Node, some 25 days. */
  timerMsMax: 2 ** 31 - 1,

  // The store and the log.
  /** One frame. What is sent in one request has to fit with our own words around it, and a request has 32 MiB. */
  frameBytesMax: 34 * 1024 * 1024,
  /** Items of one page of a list. */
  pageItemsMax: 1_000,
  /** Input that a session has not taken up. */
  pendingInputsMax: 1_000,
  /** A segment grows by small appends up to here. Two of them fill a page of the disk, which is written as a whole. */
  segmentGrowBytesMax: 2_000,
  /** A segment made at once. A single frame may be larger. */
  segmentBytesMax: 256 * 1024,
  /** Appends that wait for their commit, of all sessions. */
  logQueueBytesMax: 64 * 1024 * 1024,
  /** One commit: larger ones would keep the others waiting for long. */
  logCommitBytesMax: 4 * 1024 * 1024,
  /** What a reader is given at a time. A single frame may be larger. */
  logBatchBytesMax: 256 * 1024,
  logBatchEntriesMax: 4_096,
  /** The newest frames of one session that its readers share; who is further behind reads the store. */
  feedBytesMax: 256 * 1024,
  /** The same of all sessions together. */
  feedsBytesMax: 64 * 1024 * 1024,
  /** How often to look for frames of other processes of which no signal came. */
  logPollMs: 1_000,
  /** A part of a file that is kept in the store: what is in memory of it while it is written or read. */
  blobPartBytes: 512 * 1024,
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
  engineEventBytesMax: 16 * 1024 * 1024,
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
  /** One request's line and headers together. */
  headerBytesMax: 32 * 1024,
  /** How long the headers of a request may take. */
  headersTimeoutMs: 20_000,
  /** How long a whole request may take to arrive; the answer may take longer. */
  requestTimeoutMs: 120_000,
  /** How long a connection without requests is kept. Longer than clients and proxies keep theirs, so that they close first. */
  keepAliveTimeoutMs: 75_000,
  connectionsMax: 16_384,
  /** An id in a path. Ours have at most 33 characters. */
  pathIdCharsMax: 128,
  /** Values that one parameter of a query may have. */
  queryValuesMax: 100,
  /** Keys of a server, each a file. */
  apiKeysMax: 1_000,
  /** What is sent as a key; longer ones are not even looked up. Session tokens are the longest, with some 300. */
  secretCharsMax: 1_024,
  /** How long a key that was added or revoked by another process goes unnoticed. */
  apiKeysCheckMs: 1_000,
  /** How long an answer is kept for an `Idempotency-Key`. */
  idempotencyMs: 24 * 60 * 60 * 1_000,
  idempotencyKeyCharsMax: 255,
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
  bashTimeoutMs: 120_000,
  bashTimeoutMsMax: 600_000,
  /** The end of what a command says. */
  bashOutputBytesMax: 100 * 1024,
  /** How long to wait for the last words of a shell that ended, when something still holds its output open. */
  bashDrainMs: 500,
  /** What `read` gives at once. */
  fileReadBytesMax: 256 * 1024,
  fileEditBytesMax: 8 * 1024 * 1024,
  /** Symbolic links on the way to one file, as Linux has it. */
  fileLinksMax: 40,
  globResultsMax: 200,
  /** Patterns that one pattern with braces stands for. */
  globAlternativesMax: 256,
  globPatternCharsMax: 1_000,
  /** Directory entries that one search looks at. */
  walkEntriesMax: 100_000,
  walkDepthMax: 64,
  grepOutputBytesMax: 100 * 1024,
  grepLineCharsMax: 2_000,
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
  mcpListPagesMax: 64,
  mcpToolsMax: 1_000,
  mcpAnswerBytesMax: 32 * 1024 * 1024,
  /** How long a call waits whose answer broke off: some servers let their clients take up where they were. */
  mcpResumeMs: 10_000,

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
  /** Sessions that a stream of all of them tells of at the same time; more wait until one rests. */
  fleetWatchedSessionsMax: 1_000,
  /** Sessions that such a stream remembers. */
  fleetKnownSessionsMax: 2_000,
  /** Sessions that are looked at when such a stream is opened, the newest first, to find those at work. */
  fleetScanSessionsMax: 10_000,
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
  /** A part of an upload that is no file. */
  uploadFieldBytesMax: 1_024,
  uploadNameCharsMax: 255,
  /** Files of a whole server. */
  uploadsMax: 100_000,
  /** A file that a model is shown. As base64 it is a third more, and a request has 32 MiB. */
  shownFileBytesMax: 20 * 1024 * 1024,
  /** Files that one session has mounted. */
  sessionResourcesMax: 100,
  mountPathCharsMax: 1_024,
  /** Files that are listed of what one session has put out. */
  outputFilesMax: 10_000,

  // The dashboard.
  /** How long a login link works. */
  loginCodeMs: 10 * 60_000,
  /** Login links that wait to be used; the oldest goes first. */
  loginCodesMax: 100,
  /** What the sign-in form sends: a key, and its field. */
  loginBodyBytesMax: 4 * 1024,
  /** How long a browser stays signed in. */
  webSessionMs: 30 * 24 * 60 * 60 * 1_000,

  // The gateway of the claude program, and the search for it.
  /** Requests of one session under way at a time: more than agents that work at once, and each has one. */
  gatewayRequestsMax: 256,
  /** What waits to be unpacked of one answer that passes by. Then it passes unread. */
  gatewayTapBytesMax: 4 * 1024 * 1024,
  /** The beginning of a refusal, where the reason is. */
  gatewayRefusalBytesMax: 16 * 1024,
  /** How long the program may take to say its version. It is a large file, which a busy machine reads slowly. */
  claudeVersionMs: 20_000,

  // Sessions that are imported.
  /** How long a session that is followed belongs to who follows it, without a word from there. */
  importLeaseMs: 60_000,
  /** Frames that are written at a time. */
  importFramesMax: 1_000,
  /** How long it is known what was imported: ten years. */
  importKeyMs: 10 * 365 * 24 * 60 * 60 * 1_000,
  /** Steps of one request. */
  importStepsMax: 2_000,
  /** How the program names a conversation or an agent. */
  importNameCharsMax: 128,

  // Programs that run whole sessions.
  /** What a program has said and nobody has read. Then it has to wait. */
  programQueueBytesMax: 4 * 1024 * 1024,
  /** What is taken of it at a time: one write of the session. */
  programTakeBytesMax: 256 * 1024,
  /** Writes of a session that wait for the disk before no more is taken. */
  programWritesMax: 2,
  /** What a program was told and has not read. Then it has hung, and is ended. */
  programInputCharsMax: 64 * 1024 * 1024,
  /** What the gateway saw of a sub-agent before its lines have come so far. Then it is told block by block. */
  programTappedEventsMax: 10_000,
  /** The end of what a program complains about. */
  programStderrChars: 4_000,
  /** How long a program that is closed may take to end by itself, and after it was told to. */
  programEndMs: 5_000,
  programTermMs: 3_000,
  /** How long a turn is waited for that a program should begin by itself. */
  programExpectMs: 10_000,
  /** How long a program may take to stop what it was told to stop. */
  programStopMs: 15_000,

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
