import { type AgentTranscript, listAgentFiles, type SessionFile } from './session-files.ts';
import type { Step } from './step.ts';
import type { TranscriptRecord } from './transcript-record.ts';
import { type AgentMeta, type OpenCall, TranscriptTranslator } from './transcript-translator.ts';

/** How the session files of a program are read. */
export interface SessionFormat {
  readonly program: 'claude-code' | 'codex' | 'opencode';
  /** The file of the main agent, then the files of its sub-agents so far. */
  readonly listFiles: (session: SessionFile) => Promise<AgentTranscript[]>;
  readonly createTranslator: () => StepTranslator;
  /** The working directory and the program version, if a line contains them. */
  readonly readFacts: (record: TranscriptRecord) => { readonly directory: unknown; readonly version: unknown };
}

/** Translates lines of session files into steps. */
export interface StepTranslator {
  /** Takes the next line of an agent's file, undefined if it is unreadable. Lines must be passed in order. */
  take(key: string, meta: AgentMeta | null, record: TranscriptRecord | undefined): Step[];
  /** Ends the turns of agents that have finished and have been silent for a while. */
  rest(keys: Iterable<string>): Step[];
  listOpenCalls(key: string): readonly OpenCall[];
}

/** The session files of Claude Code. */
export const claudeCodeFormat: SessionFormat = {
  program: 'claude-code',
  listFiles: listAgentFiles,
  createTranslator: () => new TranscriptTranslator(),
  readFacts: ({ fields }) => ({ directory: fields['cwd'], version: fields['version'] }),
};
