/** Numbers that bound tools, the tool host, the sandbox and MCP connections. Each has a test at its edge. */
export const toolLimits = {
  /** Domains in `allowed_domains` or `blocked_domains` of a web tool. */
  toolDomainsMax: 64,
  /** Characters of the text of one result. Longer text is saved to a file, and the model receives its beginning and its end. */
  toolTextCharsMax: 100_000,
  toolPreviewChars: 8_000,
  /** One image of a result, in bytes of base64: the limit of the Messages API. */
  toolImageCharsMax: 5 * 1024 * 1024,
  /** Tool hosts of a server: processes with some 12 MiB of their own each. More sessions than this take turns. */
  toolHostsMax: 128,
  /** How long a session waits for a tool host. */
  toolHostWaitMs: 30_000,
  /** How long a host with shells must be unused before it may be evicted for another session, which loses its shells. */
  toolHostShellIdleMs: 10 * 60_000,
  /** How long a host may take to start. A busy machine reads Node slowly. */
  toolHostStartMs: 20_000,
  /** How long a call may take; for a bash command, in addition to its own timeout. */
  toolHostCallMs: 60_000,
  /** How long a call that was interrupted may take to stop. Shorter than `toolStopMsMax`, after which the session no longer waits for it. */
  toolHostCancelMs: 4_000,
  /** Concurrent calls of one host, not counting bash commands. Each may hold a file of `fileEditBytesMax`. */
  toolHostCallsMax: 16,
  /** Concurrent bash commands of one host. */
  toolHostCommandsMax: 64,
  /** The heap of a host, in MiB. */
  toolHostHeapMib: 256,
  /** Bytes of a request to a host: a file that a model writes, or a response of an MCP server, as JSON. */
  toolHostRequestBytesMax: 64 * 1024 * 1024,
  /** Bytes of an answer of a host: at least six times the limit of `read`, because JSON may need six bytes for one. */
  toolHostAnswerBytesMax: 2 * 1024 * 1024,
  /** Bytes that a host may write to stderr before it is killed. It should only write there when it crashes. */
  toolHostStderrBytesMax: 64 * 1024,
  bashTimeoutMs: 120_000,
  bashTimeoutMsMax: 600_000,
  /** Bytes of the end of a command's output that are returned. */
  bashOutputBytesMax: 100 * 1024,
  /** How long to wait for the last output of a shell that has ended, if a process still has its output open. */
  bashDrainMs: 500,
  /** Bytes that `read` returns at once. */
  fileReadBytesMax: 256 * 1024,
  /** Bytes of a file that is edited, before and after. */
  fileEditBytesMax: 8 * 1024 * 1024,
  /** Bytes that `read` scans for the requested lines. */
  fileScanBytesMax: 128 * 1024 * 1024,
  /** Symbolic links on the path of one file: the limit of Linux. */
  fileLinksMax: 40,
  globResultsMax: 200,
  /** Patterns that one pattern with braces stands for. */
  globAlternativesMax: 256,
  /** Characters of all alternatives together. */
  globAlternativesCharsMax: 8_192,
  globOutputBytesMax: 100 * 1024,
  globTimeoutMs: 30_000,
  globPatternCharsMax: 1_000,
  /** Directory entries that one search visits. */
  walkEntriesMax: 100_000,
  walkDepthMax: 64,
  grepPatternCharsMax: 4_000,
  grepOutputBytesMax: 100 * 1024,
  grepLineCharsMax: 2_000,
  /** Bytes of a line that are searched without ripgrep. The worst patterns take 20 µs per byte, and cannot be interrupted. */
  grepMatchBytesMax: 64 * 1024,
  /** Bytes of a file that is searched without ripgrep. Larger files are skipped, and the result reports that. */
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
  /** How long one lookup of a name from an agent may take, and one attempt at one name server. */
  dnsLookupMs: 6_000,
  dnsTryMs: 2_000,
  dnsTriesMax: 2,
  /** Concurrent lookups: of the whole server, and of one session. Further lookups wait. */
  dnsLookupsMax: 64,
  dnsLookupsPerSessionMax: 4,
  /** How long the addresses of a name are reused, unless the name server sets a shorter time. */
  dnsCacheMs: 30_000,
  dnsCacheEntriesMax: 1_000,
  /** How long a change of the hosts file goes unnoticed. */
  hostsFileCheckMs: 5_000,
  mcpConnectMs: 10_000,
  mcpCallMs: 300_000,
  /** How long to wait before a failed server is tried again. */
  mcpRetryMs: 5_000,
  /** How long connecting, including the handshake, may take, and how long listing all tools may take. */
  mcpSetupMs: 30_000,
  mcpListPagesMax: 64,
  mcpToolsMax: 1_000,
  /** Bytes of all pages of a list of tools, and of the definition of one tool. */
  mcpListBytesMax: 4 * 1024 * 1024,
  mcpToolBytesMax: 256 * 1024,
  /** Bytes and values of one response. Parsing a larger one would block the event loop for more than 50 ms. */
  mcpAnswerBytesMax: 6 * 1024 * 1024,
  mcpAnswerValuesMax: 50_000,
  mcpDepthMax: 100,
  /** Fields of a message and of the objects directly in it. The library validates each of them. */
  mcpMessageFieldsMax: 1_000,
  /** Bytes and values of the handshake, in which a server describes itself. */
  mcpHandshakeBytesMax: 256 * 1024,
  mcpHandshakeValuesMax: 1_000,
  /** Messages of one response: its result, and the notifications before it. */
  mcpAnswerMessagesMax: 10_000,
  /** Content blocks of one result. */
  mcpBlocksMax: 1_000,
  /** Bytes of the body of a response with status 400. Bodies of other errors are not read. */
  mcpErrorBytesMax: 64 * 1024,
  /** Bytes and values of one message of a server's notification stream, and all its messages within a period. */
  mcpNotificationBytesMax: 1024 * 1024,
  mcpNotificationValuesMax: 1_000,
  mcpStreamBytesMax: 4 * 1024 * 1024,
  mcpStreamMessagesMax: 6_000,
  mcpStreamWindowMs: 60_000,
  /** The first wait before a notification stream is reopened. It doubles, unless the stream lasted, up to the longest. */
  mcpStreamRetryMs: 1_000,
  mcpStreamRetryMsMax: 60_000,
  /** Notifications and responses in transit to one server. */
  mcpNoticesMax: 16,
  /** Connections to MCP servers, of all sessions. Each has a few sockets. */
  mcpConnectionsMax: 1_000,
  /** Bytes of incomplete messages: of one connection, and of all connections. */
  mcpConnectionBytesMax: 32 * 1024 * 1024,
  mcpHeldBytesMax: 256 * 1024 * 1024,
  /** The same limit as a share of the heap, if that is less: each response is on the heap several times while it is read. */
  mcpHeldHeapShare: 1 / 16,
  /** How long a call waits after its response broke off: some servers let clients resume it. */
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
  /** Bytes of each of `/tmp`, the home directory and `/dev/shm`, which are in memory; at most an eighth of the machine's memory. */
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
  /** Output files of one session that are listed. */
  outputFilesMax: 10_000,
  /** Entries, including directories, that are visited for a list of outputs. Sorting them takes about 15 ms. */
  outputEntriesMax: 20_000,
  /** How long the packages of an environment may take to install, and bytes of the end of a manager's output that are kept. */
  packagesMs: 600_000,
  packagesOutputBytesMax: 64 * 1024,
} as const;
