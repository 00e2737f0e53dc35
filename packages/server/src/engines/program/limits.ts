import { baseLimits } from '../../base/limits.ts';

/** Numbers that bound program engines and their gateway. Each has a test at its edge. */
export const programLimits = {
  /** Concurrent model requests of one session: more than the agents that run at the same time, with one request each. */
  gatewayRequestsMax: 256,
  /** Bytes of the body of one request through the gateway: the limit of the Messages API. */
  gatewayRequestBytesMax: 32 * 1024 * 1024,
  /** Concurrent requests of one session to its MCP servers; each server has one that stays open. */
  gatewayMcpRequestsMax: 128,
  /** Bytes of bodies of one session that are kept for a retry with a renewed credential. Further bodies are forwarded once and not kept. */
  gatewayMcpHeldBytesMax: 32 * 1024 * 1024,
  /** Concurrent connections of one session to hosts that its environment allows. */
  gatewayTunnelsMax: 64,
  /** How long a host may take to accept such a connection. */
  gatewayConnectMs: 15_000,
  /** Concurrent connections to the socket of one session. Each is a descriptor of the server, and a program has 20 agents at a time. */
  gatewaySocketConnectionsMax: 128,
  /** Concurrent connections of all programs to the port that they share without a sandbox; at most an eighth of the descriptors. */
  gatewayPortConnectionsMax: 4_096,
  /** Bytes of one response that wait to be decompressed. Beyond them the response is forwarded unread. */
  gatewayTapBytesMax: 4 * 1024 * 1024,
  /** Bytes that are kept of an error response. The reason is at its beginning. */
  gatewayRefusalBytesMax: 16 * 1024,
  /** How long the program may take to print its version. It is a large file, which a busy machine reads slowly. */
  programVersionMs: 60_000,
  /** Bytes of one line of a program, its JSON values, and the names in its objects. A longer line is skipped. */
  programLineBytesMax: 8 * 1024 * 1024,
  programLineValuesMax: 100_000,
  programLineNamesMax: 20_000,
  /** Characters of names that a program gives to agents, calls, blocks and requests. A program with a longer name is ended. */
  programNameCharsMax: baseLimits.foreignNameCharsMax,
  /** Tool calls without a result: of one agent, and of all agents of a process, and the JSON bytes of their input. */
  programAgentCallsMax: 1_000,
  programOpenCallsMax: 5_000,
  programOpenCallBytesMax: 64 * 1024 * 1024,
  /** Total tool calls of one process. A later process continues its conversation. */
  programCallsMax: 200_000,
  /** Sub-agents of one process. */
  programThreadsMax: 5_000,
  /** Characters that are shown of the output of a running call. Further output is only in its result. */
  programOutputCharsMax: 256 * 1024,
  /** Commands and tasks of one process in the background. */
  programWorksMax: 1_000,
  /** Names, and characters of texts, that translators keep for later events, such as a sub-agent that was named before it began. */
  programKeptNamesMax: 10_000,
  programKeptCharsMax: 16 * 1024 * 1024,
  /** Calls, results, asks and sub-agents that are handled in one turn of the event loop. */
  programHeavyEventsMax: 64,
  /** Bytes that a program may write without any event. Beyond them the program is ended. */
  programNoiseBytesMax: 64 * 1024 * 1024,
  /** Bytes of output of a program that was not read. At the limit the program has to wait. */
  programQueueBytesMax: 4 * 1024 * 1024,
  /** Bytes of that output that the session takes at a time, in one write. */
  programTakeBytesMax: 256 * 1024,
  /** Characters of input that a program has not read. Beyond them the program counts as hung, and is ended. */
  programInputCharsMax: 64 * 1024 * 1024,
  /** How long a prompt waits until the program has reported the settings it has loaded. Then the prompt is sent without the report. */
  programSettingsMs: 10_000,
  /** Entries of each kind in the report of loaded settings. */
  programSettingsMax: 100,
  /** How long a program may take to respond to a control request. */
  programControlMs: 10_000,
  /** Control requests that wait for the response of one program. */
  programControlsMax: 8,
  /** Bytes of hunks in the diff of a workspace, over all files. Further files are listed without hunks. */
  programDiffBytesMax: 1024 * 1024,
  /** How long a fork waits until the program has written the last message to its transcript. */
  programTranscriptMs: 5_000,
  /** Bytes of a program's transcript that is copied when its session is forked. A session with a longer transcript cannot be forked. */
  programTranscriptBytesMax: 256 * 1024 * 1024,
  /** Bytes of a file that a program's agent has edited, in the log and on fleet streams. A larger file is omitted. */
  programFileBytesMax: 256 * 1024,
  /** Events that the gateway saw of a sub-agent before its lines arrived. Beyond them its text arrives block by block. */
  programTappedEventsMax: 10_000,
  /** Lines of sub-agents of Codex that are held until the call that started each sub-agent is known. Further lines are not kept. */
  codexHeldLinesMax: 10_000,
  /** Sub-agents that Codex was asked to describe and has not described yet. Further sub-agents are ignored. */
  codexAwaitedMax: 1_000,
  /** Text and thinking blocks of one agent that have begun and not ended. Beyond that the oldest are forgotten. */
  programBlocksMax: 1_000,
  /** How long opencode may take until it listens and its stream of events is open. It is a large program. */
  opencodeStartMs: 60_000,
  /** How long opencode may take to answer a request, and bytes of the response. The first request loads its plugins. */
  opencodeAnswerMs: 60_000,
  opencodeAnswerBytesMax: 64 * 1024 * 1024,
  /** JSON values of such a response: enough for a conversation of tens of thousands of messages. */
  opencodeAnswerValuesMax: 1_000_000,
  /** Messages of all conversations, and permission requests of one, whose state is kept. Beyond that the oldest are forgotten. */
  opencodeMessagesMax: 50_000,
  opencodeRequestsMax: 1_000,
  /** Levels of conversations above a waiting agent that count as waiting too, and that are searched for a definition. */
  opencodeLevelsMax: 100,
  /** Conversations that are read after a break of the stream of events, or moved for a fork. */
  opencodeConversationsMax: 1_000,
  /** How long the second report of the end of a run is waited for: while its message is open, and before the next message is sent. */
  opencodeSettleMs: 5_000,
  opencodeSecondEndMs: 1_000,
  /** How long an idle opencode may leave a stored message unanswered before it is sent again, and how many times it is sent. */
  opencodeLostMs: 5_000,
  opencodeSaysMax: 3,
  /** How many times opencode retries a model request. It would not stop on its own. */
  opencodeRetriesMax: 10,
  /** How long a denial waits for permission requests of other calls, which opencode would reject with it. */
  opencodeAskMs: 2_000,
  /** How long closing opencode waits for the end of all runs. */
  opencodeAbortMs: 2_000,
  /** Open calls of an ACP agent. Further calls are not kept, and their permission requests are denied. */
  acpCallsMax: 1_000,
  /** Characters of a text or thinking block of an ACP agent. Further text becomes a block of its own. */
  acpBlockCharsMax: 4 * 1024 * 1024,
  /** Characters that are kept of the terminal output of one call of an ACP agent, from its end. */
  acpOutputCharsMax: 1024 * 1024,
  /** Characters of input and output that all open calls of an ACP agent keep together. Values that do not fit are omitted. */
  acpKeptCharsMax: 16 * 1024 * 1024,
  /** Characters that each value counts in addition to its own: values are copied whenever a call is shown. */
  acpValueChars: 512,
  /** Permission requests of one call that wait, and reasons of denials that the model has not read. Further requests are denied. */
  acpWaitingMax: 100,
  /** Levels of nesting in the input and output of a call of an ACP agent. A deeper value is omitted. */
  acpNestingMax: 64,
  /** Characters that are kept of the end of a program's stderr. */
  programStderrChars: 4_000,
  /** How long a program may take to end on its own when it is closed, and after SIGTERM. */
  programEndMs: 5_000,
  programTermMs: 3_000,
  /** How long to wait until killed processes are gone: a busy system frees them late. */
  programDeathMs: 10_000,
  /** Bytes, lines and content blocks that are read of one sub-agent's transcript for one process of the program. */
  transcriptBytesMax: 32 * 1024 * 1024,
  transcriptLinesMax: 100_000,
  transcriptBlocksMax: 20_000,
  /** Content blocks of one record of a transcript: the program writes a record for each block. */
  transcriptRecordBlocksMax: 1_000,
  /** Longest id of a call in a transcript. */
  transcriptIdCharsMax: 256,
  /** Concurrent reads of transcripts, for all sessions. */
  transcriptReadsMax: 4,
  /** Transcripts and calls of a session that are kept in memory. */
  transcriptFilesMax: 10_000,
  /** Names that one search for transcripts reads in all directories. */
  transcriptEntriesMax: 20_000,
  /** How long the server waits for the transcript of a sub-agent, and how long between two reads. */
  transcriptWaitMs: 5_000,
  transcriptPollMs: 25,
  /** How long the server searches for a custom tool call that no line has, and how long between two searches. */
  transcriptCallMs: 30_000,
  transcriptCallPollMs: 100,
  /** How long a permission request waits for the line that lists its agent, if a workflow runs. */
  workflowAgentMs: 3_000,
  /**
   * A transcript of an agent that has completed, or was stopped, is complete when it was not written to for this long,
   * whatever its last record is.
   */
  transcriptQuietMs: 2_000,
  transcriptStoppedMs: 500,
  /** How long to wait for a turn that a program should begin on its own. */
  programExpectMs: 10_000,
  /** How long after its time a wake-up of a program may still fire: programs check once a minute, and turns come first. */
  wakeUpGraceMs: 3 * 60_000,
  /** How long a recurring wake-up keeps its program running: after this time the program deletes the wake-up too. */
  wakeUpDaysMs: 7 * 24 * 60 * 60_000,
} as const;
