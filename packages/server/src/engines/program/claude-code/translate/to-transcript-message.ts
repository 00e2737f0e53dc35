import { baseLimits } from '../../../../base/limits.ts';
import { programLimits } from '../../limits.ts';
import { MAIN } from '../../program.ts';
import type { TranscriptProblem } from '../transcript/silent-agent.ts';

/** The message in the log about a transcript that could not be read completely. */
export function toTranscriptMessage(taskId: string, problem: TranscriptProblem): string {
  const whose = taskId === MAIN ? 'the main agent' : `sub-agent ${taskId}`;
  const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
  switch (problem) {
    case 'missing':
      return `Claude Code did not write the transcript of ${whose} within ${programLimits.transcriptWaitMs / 1_000} s. Its text and tool calls are not in this log.`;
    case 'too_large':
      return `The transcript of ${whose} is too large: it has more than ${mebibytes(programLimits.transcriptBytesMax)}, ${programLimits.transcriptLinesMax} lines or ${programLimits.transcriptBlocksMax} content blocks. What follows in it is not in this log.`;
    case 'record_too_large':
      return `The transcript of ${whose} has records of more than ${mebibytes(programLimits.programLineBytesMax)}, ${programLimits.programLineValuesMax} JSON values, ${baseLimits.contentDepthMax} levels or ${programLimits.transcriptRecordBlocksMax} content blocks. These records are not in this log.`;
    case 'unreadable':
      return `The transcript of ${whose} could not be read. Text and tool calls of that agent may not be in this log.`;
  }
}
