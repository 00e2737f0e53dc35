/** Numbers that bound the HTTP server. Each has a test at its edge. */
export const httpLimits = {
  /** Rows on a page of the list of all sessions. */
  fleetSessionsPageMax: 200,
  /** Characters of a search, and of the name of an agent or a model in a query. */
  fleetSessionsTextCharsMax: 500,
  /** The largest value of the minimum cost filter, in US dollars. */
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
  /** Pipelined requests of one connection. No more are read until the first of them has its response. */
  pipelinedRequestsMax: 16,
  /** How long a client may read nothing of a response. */
  answerStallMs: 60_000,
  /** The minimum time between two reports that connections cannot be accepted. */
  acceptReportMs: 10_000,
  /** Characters of an id in a path. Ids of this server have at most 33 characters. */
  pathIdCharsMax: 128,
  /** Values that one parameter of a query may have. */
  queryValuesMax: 100,
  /** Characters of a key; longer ones are rejected without a look-up. Session tokens are the longest, with about 300. */
  secretCharsMax: 1_024,
  /** How long a response is kept for an `Idempotency-Key`. */
  idempotencyMs: 24 * 60 * 60 * 1_000,
  idempotencyKeyCharsMax: 255,
  /** Bytes of a request whose response is kept. A larger request is also applied once, but its response, which repeats it, is not kept. */
  replayBytesMax: 1024 * 1024,
  /** Bytes of a stored response: the content of the largest request, and the rest of the resource. */
  replayAnswerBytesMax: 1280 * 1024,
  /** How long a response is kept for a client that repeats a request without an `Idempotency-Key`. */
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
  /** How long a stream may be silent before a ping is sent. */
  streamPingMs: 10_000,
  /** How long a reader may read nothing while bytes are buffered for it. */
  streamStallMs: 60_000,
  /** Open streams of one key. An event for all of them, or the end of all of them, is handled in one turn of the event loop. */
  streamsPerKeyMax: 1_024,
  /** The reconnect delay that readers receive when the server stops. */
  streamRetryMs: 1_000,
  /** Keys whose rate is tracked. The least recently used one is evicted, and starts again with a full bucket. */
  rateBucketsMax: 10_000,
  /** How long a key look-up may take for a request that does not need the database; then the last known keys are used. */
  knownKeysWaitMs: 500,
  /** Requests of a kind that wait to be admitted. */
  admissionWaitingMax: 1_000,
  /** Requests of a queue that counts as long. Requests in a shorter queue wait for up to the limit. */
  admissionQueueLeast: 4,
  /** How late due work may be. No more requests are admitted while it is later. */
  admissionDelayMs: 50,
  /** How long a write may wait for the disk or the database before it counts as late. */
  admissionWriteMs: 200,
  /**
   * How many requests of each kind are in progress at a time: at least, at first and at most. How long one waits at most, and as far as that
   * is known when it arrives. It waits for less if its response would not be ready within `answerMs` after that, judged by the last requests.
   */
  admission: {
    work: { least: 1, first: 16, most: 16, waitMs: 1_000, queueMs: 500, answerMs: 1_500 },
    reads: { least: 16, first: 16, most: 64, waitMs: 2_000, queueMs: 1_000, answerMs: 2_000 },
  },
  /** How long a request may always wait, and the number of recent response times that are kept. */
  admissionWaitLeastMs: 100,
  admissionServed: 20,
  /**
   * A request that takes this long multiplies the number of requests in progress by the factor: in a process that is busy for this share of time,
   * and in one that waits for something else, which then still admits at least this many.
   */
  admissionSlowMs: 250,
  admissionSlowIdleMs: 1_000,
  admissionIdleSlots: 4,
  admissionBusyShare: 0.8,
  admissionSlotsFactor: 0.7,
  /** The longest `retry-after` of a rejected request, and how long after the last rejection the next one is reported. */
  admissionRetrySecondsMax: 3,
  admissionReportMs: 10_000,
  /** How long requests in progress may take when the server stops. */
  shutdownGraceMs: 10_000,
  /** Events of one request. */
  sentEventsMax: 100,
  /** Events that a session is created with. */
  initialEventsMax: 50,
  /** Blocks of one system message. */
  systemBlocksMax: 1_000,
  /** Characters of the rule that a decision was made by. */
  ruleCharsMax: 4_096,
  /** The largest delegation depth of an orchestrated request. */
  orchestrateDepthMax: 2,
  /** Characters of an `Idempotency-Key` of an orchestrated request. */
  orchestrateKeyCharsMax: 256,
  /** How long a cancel waits for the end of its run. */
  cancelWaitMs: 1_000,
  /** Agents of a workspace that an orchestrated request may delegate to. */
  rosterMax: 100,
  /**
   * How long after a send a first stream still begins with the events that the send has caused. Two seconds are enough for a
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
  /** Characters of the id that a worker chooses. */
  workerIdCharsMax: 256,
  /** How long the session token of a worker is valid. */
  sessionTokenMs: 24 * 60 * 60 * 1_000,
  /** Bytes of the headers of one part of an upload. */
  uploadHeaderBytesMax: 8 * 1024,
  /** Parts of one upload: a file, and fields beside it. */
  uploadPartsMax: 16,
  /** Bytes before the first part of an upload. */
  uploadPreambleBytesMax: 8 * 1024,
  /** Bytes of a part of an upload that is not a file. */
  uploadFieldBytesMax: 1_024,
  uploadNameCharsMax: 255,
  /** Entries of the audit log on one page. */
  auditPageMax: 1_000,
  auditPageDefault: 100,
  /** How long a login link works. */
  loginCodeMs: 10 * 60_000,
  /** Unused login links of one workspace, and of one person or login. Above the limit the oldest of the same maker is removed. */
  loginCodesMax: 100,
  loginCodesOfPersonMax: 50,
  /** Bytes of the body of the sign-in form: a key and the name of its field. */
  loginBodyBytesMax: 4 * 1024,
  /** Signed-in browsers of one workspace; above it the oldest one of the same key or person is signed out. */
  loginsMax: 2_000,
  /** Signed-in browsers of one person, or made with one login; above the limit the oldest is signed out. */
  loginsOfPersonMax: 100,
  /** The length of a chain of links, each made in a browser that the previous link has signed in. */
  loginDepthMax: 3,
  /** Characters of the user agent of a signed-in browser, in the list of logins. */
  userAgentCharsMax: 300,
  /** How long a browser stays signed in. */
  webSessionMs: 30 * 24 * 60 * 60 * 1_000,
  /** Steps of one import request. */
  importStepsMax: 2_000,
  /** Calls of one imported session that wait for a decision at the same time. */
  importAsksMax: 100,
  /** Frames that are read for one page of the connections of a session. */
  egressFramesMax: 20_000,
  /** Characters of the program's own name of a conversation or an agent. */
  importNameCharsMax: 128,
} as const;
