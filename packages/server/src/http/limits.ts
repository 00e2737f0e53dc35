/** Numbers that bound the HTTP server. Each has a test at its edge. */
export const httpLimits = {
  /** Rows of a page of the list of all sessions. */
  fleetSessionsPageMax: 200,
  /** Characters of a search, and of the name of an agent or a model in a query. */
  fleetSessionsTextCharsMax: 500,
  /** The largest minimum cost that can be asked for, in US dollars. */
  minCostUsdMax: 1_000_000,
  /** Bytes of request bodies held in memory: for one key, and for all. */
  bodiesPerKeyBytesMax: 128 * 1024 * 1024,
  bodiesBytesMax: 512 * 1024 * 1024,
  /** A body from this size on is read only if the heap has room for several copies: as text, as values, and as a frame. */
  largeBodyBytes: 16 * 1024,
  bodyHeapFactor: 6,
  /** Proxies in a row whose forwarded addresses are read. */
  forwardedHopsMax: 32,
  /** Upper and lower bound of the connections that are derived from the descriptor limit. */
  connectionsMax: 16_384,
  connectionsMin: 8,
  /** Descriptors that a server has open before the first connection, with a few to spare. */
  descriptorsAtStart: 32,
  /** How long a new connection has to send a request before it may be closed to make room for another one. */
  connectionGraceMs: 5,
  /** Connections accepted beyond the maximum while the ones they replace are being closed. */
  connectionsSlack: 8,
  /** Requests that one connection has sent before the first of them was answered. No more are read until then. */
  pipelinedRequestsMax: 16,
  /** How long a client may read nothing of an answer. */
  answerStallMs: 60_000,
  /** The minimum time between two reports that connections cannot be accepted. */
  acceptReportMs: 10_000,
  /** An id in a path. Ours have at most 33 characters. */
  pathIdCharsMax: 128,
  /** Values that one parameter of a query may have. */
  queryValuesMax: 100,
  /** The length of a key; longer ones are refused without a look-up. Session tokens are the longest, with about 300. */
  secretCharsMax: 1_024,
  /** How long an answer is kept for an `Idempotency-Key`. */
  idempotencyMs: 24 * 60 * 60 * 1_000,
  idempotencyKeyCharsMax: 255,
  /** A larger request is also applied once, but its response, which repeats it, is not kept. */
  replayBytesMax: 1024 * 1024,
  /** The size of a stored answer: the content of the largest request, and the rest of the resource. */
  replayAnswerBytesMax: 1280 * 1024,
  /** How long an answer is kept for a client that repeats a request without such a key. */
  retryGuardMs: 60_000,
  recordPageItemsDefault: 20,
  descriptionCharsMax: 2_048,
  systemCharsMax: 100_000,
  metadataKeyCharsMax: 64,
  metadataValueCharsMax: 512,
  /** Skills of one agent. */
  agentSkillsMax: 100,
  /** Allowed hosts of an environment, and packages of one package manager. */
  environmentEntriesMax: 1_000,
  /** Bytes buffered for one reader of a stream beyond its socket. A reader above it is disconnected, and can resume. */
  streamBufferBytesMax: 4 * 1024 * 1024,
  /** Bytes sent to a stream in one tick are one write, up to this size: a faster producer must notice back-pressure. */
  streamWriteBytesMax: 1024 * 1024,
  /** The longest silence of a stream. */
  streamPingMs: 10_000,
  /** How long a reader may read nothing while bytes are buffered for it. */
  streamStallMs: 60_000,
  /** Open streams of one key. An event for all of them, and the end of all of them, is one turn of the event loop. */
  streamsPerKeyMax: 1_024,
  /** The reconnect delay that readers receive when the server stops. */
  streamRetryMs: 1_000,
  /** Keys whose rate is tracked. The least recently used one is evicted, and starts again with a full bucket. */
  rateBucketsMax: 10_000,
  /** How long the key of a request that needs no database is looked up there; then keys count as they were known last. */
  knownKeysWaitMs: 500,
  /** How many requests of a kind wait to be let in. */
  admissionWaitingMax: 1_000,
  /** A queue that is shorter is not long: its requests wait for as long as they may. */
  admissionQueueLeast: 4,
  /** No more are let in while what is due is late by this much. */
  admissionDelayMs: 50,
  /** How long a write may wait for the disk or the database before it counts as late. */
  admissionWriteMs: 200,
  /**
   * How many of each kind are under way at a time: at least, at first and at most. How long one waits at most, and as far as that
   * is known when it arrives. It waits for less if it would not be answered within `answerMs` after that, as the last ones were.
   */
  admission: {
    work: { least: 1, first: 16, most: 16, waitMs: 1_000, queueMs: 500, answerMs: 1_500 },
    reads: { least: 16, first: 16, most: 64, waitMs: 2_000, queueMs: 1_000, answerMs: 2_000 },
  },
  /** How long one may always wait, and of how many answers the time is remembered. */
  admissionWaitLeastMs: 100,
  admissionServed: 20,
  /**
   * Each request that takes so long multiplies their number by the factor: in a process that is busy for this share of its time,
   * and in one that waits for something else, which then still lets in so many.
   */
  admissionSlowMs: 250,
  admissionSlowIdleMs: 1_000,
  admissionIdleSlots: 4,
  admissionBusyShare: 0.8,
  admissionSlotsFactor: 0.7,
  /** The longest `retry-after` of a rejected one, and the time without rejections after which the next one is reported. */
  admissionRetrySecondsMax: 3,
  admissionReportMs: 10_000,
  /** How long requests that are under way have when the server stops. */
  shutdownGraceMs: 10_000,
  /** Events of one request. */
  sentEventsMax: 100,
  /** Events that a session is created with. */
  initialEventsMax: 50,
  /** Blocks of one system message. */
  systemBlocksMax: 1_000,
  /** The text of the rule that a decision was made by. */
  ruleCharsMax: 4_096,
  /** The largest depth at which agents of an orchestrated request work. */
  orchestrateDepthMax: 2,
  /** An `Idempotency-Key` of an orchestrated request. */
  orchestrateKeyCharsMax: 256,
  /** How long a cancel waits for the end of its run. */
  cancelWaitMs: 1_000,
  /** Agents of a workspace that an orchestrated request may delegate to. */
  rosterMax: 100,
  /**
   * How long after a send the first stream begins with the events that the send has caused. Two seconds are enough for a
   * client that opens the stream right after the send; a busy machine takes longer.
   */
  catchUpMs: 5_000,
  /** How long a node waits for another node that is applying the same request. */
  claimMs: 30_000,
  /** How long a claim is valid after each renewal. */
  claimLeaseMs: 6_000,
  workLeaseMsMax: 3_600_000,
  /** How long a poll may wait for work. */
  workBlockMsMax: 999,
  /** How long a polled item waits for its acknowledgement, unless the poll sets another time. */
  workReclaimMs: 5_000,
  workReclaimMsMax: 86_400_000,
  /** The id that a worker chooses. */
  workerIdCharsMax: 256,
  /** How long the session token of a worker is valid. */
  sessionTokenMs: 24 * 60 * 60 * 1_000,
  /** The headers of one part of an upload. */
  uploadHeaderBytesMax: 8 * 1024,
  /** Parts of one upload: a file, and fields beside it. */
  uploadPartsMax: 16,
  /** Bytes before the first part of an upload. */
  uploadPreambleBytesMax: 8 * 1024,
  /** A part of an upload that is not a file. */
  uploadFieldBytesMax: 1_024,
  uploadNameCharsMax: 255,
  /** Entries of the audit log on one page. */
  auditPageMax: 1_000,
  auditPageDefault: 100,
  /** How long a login link works. */
  loginCodeMs: 10 * 60_000,
  /** Unused login links of one workspace, and of one person or login. Above it the oldest of the same maker is dropped. */
  loginCodesMax: 100,
  loginCodesOfPersonMax: 50,
  /** The body of the sign-in form: a key and the name of its field. */
  loginBodyBytesMax: 4 * 1024,
  /** Signed-in browsers of one workspace; above it the oldest one of the same key or person is signed out. */
  loginsMax: 2_000,
  /** Those of one person, or that were made with one login; above it its oldest is signed out. */
  loginsOfPersonMax: 100,
  /** Links in a row, each made in a browser that the link before has signed in. */
  loginDepthMax: 3,
  /** How a signed-in browser names itself, in the list of logins. */
  userAgentCharsMax: 300,
  /** How long a browser stays signed in. */
  webSessionMs: 30 * 24 * 60 * 60 * 1_000,
  /** Steps of one import request. */
  importStepsMax: 2_000,
  /** Calls of one imported session that wait for a decision at the same time. */
  importAsksMax: 100,
  /** Frames that are looked at for one page of the connections of a session. */
  egressFramesMax: 20_000,
  /** The program's own name of a conversation or an agent. */
  importNameCharsMax: 128,
} as const;
