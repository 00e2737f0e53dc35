import { appendFile, mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toProjectName } from '../launch/copy-conversation.ts';
import { record, text } from '../../lines/values.ts';

/**
 * With the operator's own login and without the sandbox, the program keeps transcripts in the operator's configuration
 * directory. The conversations of each session are recorded, so that only their transcripts are deleted with the
 * session.
 */
export interface OperatorTranscripts {
  /** Records a conversation. `projects` is the directory of transcripts, with one folder for each workspace. */
  add(sessionId: string, conversation: string, place: { projects: string; directory: string }): Promise<void>;
  /** Deletes the transcripts of all conversations of the session, and the record of them. */
  remove(sessionId: string): Promise<void>;
  /** Sessions with recorded conversations. */
  list(): Promise<readonly string[]>;
}

/** Stores the records in `directory`, which agents in the sandbox cannot write to. */
export function createOperatorTranscripts(directory: string): OperatorTranscripts {
  const pathOf = (sessionId: string) => join(directory, `${sessionId}${SUFFIX}`);
  return {
    add: async (sessionId, conversation, place) => {
      const project = toProjectName(await realpath(place.directory));
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const line = JSON.stringify({ projects: place.projects, project, conversation });
      await appendFile(pathOf(sessionId), `${line}\n`, { mode: 0o600 });
    },
    remove: async (sessionId) => {
      const lines = (await readFile(pathOf(sessionId), 'utf8').catch(() => '')).split('\n');
      for (const line of lines) if (line !== '') await removeTranscripts(line);
      await rm(pathOf(sessionId), { force: true });
    },
    list: async () => {
      const names = await readdir(directory).catch(() => []);
      return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
    },
  };
}

const SUFFIX = '.jsonl';

/** The form of a conversation id. Another value could be the path of a file that is not a transcript. */
const CONVERSATION = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Deletes only transcripts in the folder of the session's workspace: a fork may continue the same conversation in another workspace. */
async function removeTranscripts(line: string): Promise<void> {
  const recorded = parse(line);
  const [projects, project] = [text(recorded?.['projects']), text(recorded?.['project'])];
  const conversation = text(recorded?.['conversation']);
  if (projects === undefined || conversation === undefined || !CONVERSATION.test(conversation)) return;
  if (project === undefined || !/^[a-zA-Z0-9-]+$/.test(project)) return;
  const file = join(projects, project, conversation);
  await rm(`${file}.jsonl`, { force: true });
  await rm(file, { recursive: true, force: true, maxRetries: 5 });
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return record(JSON.parse(line));
  } catch {
    // The line is incomplete: the server was killed while writing it.
    return undefined;
  }
}
