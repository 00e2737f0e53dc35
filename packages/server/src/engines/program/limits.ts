import { baseLimits } from '../../base/limits.ts';

/** Numbers that bound program engines and their gateway. Each has a test at its edge. */
export const programLimits = {
  /** Requests of one session under way at a time: more than agents that work at once, and each has one. */
  gatewayRequestsMax: 256,
  /** The body of one request through the gateway, which is what the Messages API takes. */
  gatewayRequestBytesMax: 32 * 1024 * 1024,
  /** Requests of one session to its MCP servers under way at a time; each server has one that stays open. */
  gatewayMcpRequestsMax: 128,
  /** Bodies of one session that are kept to be sent again with a renewed credential. Beyond that they are passed on as they come, once. */
  gatewayMcpHeldBytesMax: 32 * 1024 * 1024,
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
  programVersionMs: 60_000,
  /** One line of a program, its JSON values, and the names of its objects. A longer one is passed over. */
  programLineBytesMax: 8 * 1024 * 1024,
  programLineValuesMax: 100_000,
  programLineNamesMax: 20_000,
  /** Characters of the names that a program gives to agents, calls, blocks and requests. With a longer one it is ended. */
  programNameCharsMax: baseLimits.foreignNameCharsMax,
  /** Tool calls without a result: of one agent, and of all agents of a process, and the JSON bytes of their input. */
  programAgentCallsMax: 1_000,
  programOpenCallsMax: 5_000,
  programOpenCallBytesMax: 64 * 1024 * 1024,
  /** Tool calls of one process in all. A later process continues its conversation. */
  programCallsMax: 200_000,
  /** Sub-agents of one process. */
  programThreadsMax: 5_000,
  /** What is shown of the output of one call while it runs. What follows is in its result. */
  programOutputCharsMax: 256 * 1024,
  /** Commands and tasks of one process in the background. */
  programWorksMax: 1_000,
  /** Names and texts that translators keep of what is not there yet, such as a sub-agent that was named before it began. */
  programKeptNamesMax: 10_000,
  programKeptCharsMax: 16 * 1024 * 1024,
  /** Calls, results and sub-agents that are decided in one turn of the event loop. */
  programHeavyEventsMax: 64,
  /** What a program may write without any event. Then it is ended. */
  programNoiseBytesMax: 64 * 1024 * 1024,
  /** Output of a program that was not read. At the limit the program has to wait. */
  programQueueBytesMax: 4 * 1024 * 1024,
  /** What is taken of it at a time: one write of the session. */
  programTakeBytesMax: 256 * 1024,
  /** Input of a program that it has not read. At the limit the program has hung, and is ended. */
  programInputCharsMax: 64 * 1024 * 1024,
  /** How long a prompt waits until the program has reported the settings it has loaded. Then the prompt is sent without the report. */
  programSettingsMs: 10_000,
  /** Entries of each kind in the report of loaded settings. */
  programSettingsMax: 100,
  /** How long the answer of a program to a request outside of its turns is waited for. */
  programControlMs: 10_000,
  /** Such requests that wait for the answer of one program. */
  programControlsMax: 8,
  /** Hunks in the diff of a workspace, over all files. Further files are listed without theirs. */
  programDiffBytesMax: 1024 * 1024,
  /** How long a fork waits until the program has written the last message to its transcript. */
  programTranscriptMs: 5_000,
  /** The transcript of a program that is copied when its session is forked. A session with a longer one cannot be forked. */
  programTranscriptBytesMax: 256 * 1024 * 1024,
  /** A file that a program's agent has edited, in the log and on fleet streams. A larger one is left out. */
  programFileBytesMax: 256 * 1024,
  /** Events that the gateway saw of a sub-agent before its lines arrived. At the limit its text arrives block by block. */
  programTappedEventsMax: 10_000,
  /** Lines of sub-agents of Codex that are held until the call that made each of them is known. Further ones are not kept. */
  codexHeldLinesMax: 10_000,
  /** Sub-agents of Codex that it was asked about and has not described. Of further ones nothing is kept. */
  codexAwaitedMax: 1_000,
  /** Texts and thoughts of one agent that have begun and not ended. Of more, the oldest are forgotten. */
  programBlocksMax: 1_000,
  /** How long opencode may take until it listens and its stream of events is open. It is a large program. */
  opencodeStartMs: 60_000,
  /** How long opencode may take to answer a request, and how long the answer may be. The first request loads its plugins. */
  opencodeAnswerMs: 60_000,
  opencodeAnswerBytesMax: 64 * 1024 * 1024,
  /** JSON values of such an answer: those of a conversation of tens of thousands of messages. */
  opencodeAnswerValuesMax: 1_000_000,
  /** Messages whose state is kept, of all conversations, and permission requests of one. Of more, the newest. */
  opencodeMessagesMax: 50_000,
  opencodeRequestsMax: 1_000,
  /** Levels of conversations up to which an agent that waits makes those above it wait. */
  opencodeLevelsMax: 100,
  /** Conversations that are read when the stream of events was broken. */
  opencodeConversationsMax: 1_000,
  /** How long the second report of the end of a run is waited for: while its message is open, and before the next message is sent. */
  opencodeSettleMs: 5_000,
  opencodeSecondEndMs: 1_000,
  /** How long opencode may leave a stored message without an answer while it is idle. Then the message is sent again, so often at most. */
  opencodeLostMs: 5_000,
  opencodeSaysMax: 3,
  /** How often opencode sends a model request again. It would not stop on its own. */
  opencodeRetriesMax: 10,
  /** How long a denial waits for requests about other calls, which opencode would reject with it. */
  opencodeAskMs: 2_000,
  /** How long the end of all runs is waited for when opencode is closed. */
  opencodeAbortMs: 2_000,
  /** Calls of an ACP agent under way at a time. Further ones are not kept, and what they ask for is denied. */
  acpCallsMax: 1_000,
  /** A text or thought of an ACP agent. What follows is a block of its own. */
  acpBlockCharsMax: 4 * 1024 * 1024,
  /** What the terminal of one call of an ACP agent has shown, from its end. */
  acpOutputCharsMax: 1024 * 1024,
  /** What all open calls of an ACP agent keep of their input and output together. What does not fit is left out. */
  acpKeptCharsMax: 16 * 1024 * 1024,
  /** What each value in them counts beside its characters: they are copied whenever a call is shown. */
  acpValueChars: 512,
  /** Permission requests of one call that wait, and reasons of denials that the model has not read. Further requests are denied. */
  acpWaitingMax: 100,
  /** Levels of nesting in the input and output of a call of an ACP agent. A deeper value is left out. */
  acpNestingMax: 64,
  /** The end of what a program complains about. */
  programStderrChars: 4_000,
  /** How long a program may take to end on its own when it is closed, and after SIGTERM. */
  programEndMs: 5_000,
  programTermMs: 3_000,
  /** How long is waited for killed processes to be gone: a system under load frees them late. */
  programDeathMs: 10_000,
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
  /** How long the server looks for a custom tool call that no line has, and how often. */
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
  /** How long after its time a wake-up of a program may still come: programs look once a minute, and turns come first. */
  wakeUpGraceMs: 3 * 60_000,
  /** How long a repeated wake-up of a program keeps it: after that time the program ends it, too. */
  wakeUpDaysMs: 7 * 24 * 60 * 60_000,
} as const;
