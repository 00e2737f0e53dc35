/** Numbers that bound tools, the tool host, the sandbox and MCP connections. Each has a test at its edge. */
export const toolLimits = {
  /** Domains that a web tool is limited to, or kept from. */
  toolDomainsMax: 64,
  /** Text of one result. Longer text is saved to a file, and the model receives its beginning and its end. */
  toolTextCharsMax: 100_000,
  toolPreviewChars: 8_000,
  /** One image of a result, in bytes of base64: the limit of the Messages API. */
  toolImageCharsMax: 5 * 1024 * 1024,
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
  /** How long a call that was interrupted may take to stop. Shorter than `toolStopMsMax`, after which the session no longer waits for it. */
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
  /** Bytes that a host may write to stderr before it is killed. It should only write there when it crashes. */
  toolHostStderrBytesMax: 64 * 1024,
  bashTimeoutMs: 120_000,
  bashTimeoutMsMax: 600_000,
  /** The end of what a command says. */
  bashOutputBytesMax: 100 * 1024,
  /** How long to wait for the last words of a shell that ended, when something still holds its output open. */
  bashDrainMs: 500,
  /** Bytes that `read` returns at once. */
  fileReadBytesMax: 256 * 1024,
  /** A file that is edited, before and after. */
  fileEditBytesMax: 8 * 1024 * 1024,
  /** Bytes that `read` scans for the requested lines. */
  fileScanBytesMax: 128 * 1024 * 1024,
  /** Symbolic links on the way to one file, as Linux has it. */
  fileLinksMax: 40,
  globResultsMax: 200,
  /** Patterns that one pattern with braces stands for. */
  globAlternativesMax: 256,
  /** Characters of all alternatives together. */
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
  /** Bytes of a line that are searched without ripgrep. The worst patterns take 20 µs per byte, and cannot be interrupted. */
  grepMatchBytesMax: 64 * 1024,
  /** A file that is searched without ripgrep. Larger ones are left out, and the result says so. */
  grepFileBytesMax: 16 * 1024 * 1024,
  grepTimeoutMs: 30_000,
  /** Decompressed bytes of a page. */
  webFetchBytesMax: 10 * 1024 * 1024,
  webFetchTimeoutMs: 30_000,
  webFetchConnectMs: 10_000,
  webFetchRedirectsMax: 5,
  webFetchCacheEntriesMax: 32,
  webFetchCacheCharsMax: 4 * 1024 * 1024,
  webFetchCacheMs: 15 * 60_000,
  /** One lookup of a name from an agent, and one attempt at one name server. */
  dnsLookupMs: 6_000,
  dnsTryMs: 2_000,
  dnsTriesMax: 2,
  /** Lookups at a time: of the whole server, and of one session. More wait. */
  dnsLookupsMax: 64,
  dnsLookupsPerSessionMax: 4,
  /** How long the addresses of a name are reused, unless the name server sets a shorter time. */
  dnsCacheMs: 30_000,
  dnsCacheEntriesMax: 1_000,
  /** How long a change of the hosts file goes unnoticed. */
  hostsFileCheckMs: 5_000,
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
  /** One response. Parsing a larger one, or one with more values, would block the event loop for more than 50 ms. */
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
  /** One message of a server's notification stream, and all its messages within a period. */
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
  /** The same limit as a share of the heap, if that is less: each response is on the heap several times while it is read. */
  mcpHeldHeapShare: 1 / 16,
  /** How long a call waits whose answer broke off: some servers let their clients take up where they were. */
  mcpResumeMs: 10_000,
  sandboxProcessesMax: 1_024,
  /** Memory of all processes of a sandbox, temporary files included. Enforced only by a memory cgroup. */
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
  /** The share of the machine's memory and process ids that all sandboxes together may use. */
  sandboxesMemoryPercent: 75,
  sandboxesProcessesPercent: 50,
  /** How long a launch may take from its preparation to its start, before its cgroup counts as abandoned. */
  sandboxJoinMs: 10_000,
  /** How often cgroups whose processes have ended are removed. */
  sandboxSweepMs: 2_000,
  /** How long to wait for a tool to stop after it was interrupted. */
  toolStopMsMax: 5_000,
  /** Files that are listed of what one session has put out. */
  outputFilesMax: 10_000,
  /** Entries, directories included, that are looked at for such a list: to sort them takes some 15 ms. */
  outputEntriesMax: 20_000,
  /** How long the packages of an environment may take to install, and the end of a manager's output that is looked at. */
  packagesMs: 600_000,
  packagesOutputBytesMax: 64 * 1024,
} as const;
