import { cutText } from '@fleetloom/protocol/fleet';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SnapshotRepository } from '../snapshots/objects/snapshot-repository.ts';
import type { Setting } from '../sources/read-repository.ts';
import { changesLimits } from './limits.ts';

/** The author and the message of a commit. */
export interface CommitText {
  readonly name: string;
  readonly email: string;
  readonly message: string;
}

/** The inputs of a commit message. */
export interface CommitFacts {
  readonly sessionId: string;
  readonly title: string | null;
  /** The message that replaces the title. */
  readonly message: string | undefined;
  /** Names of the agents that made the changes. */
  readonly agents: readonly string[];
}

/** The message of a commit: the agents are its co-authors. */
export function toCommitMessage({ sessionId, title, message, agents }: CommitFacts): string {
  const [line = ''] = title?.trim().split('\n') ?? [];
  const subject = message ?? (line === '' ? `Apply changes of ${sessionId}` : cutText(line, SUBJECT_CHARS));
  const names = [...new Set(agents.map(toName))].slice(0, changesLimits.coAuthorsMax);
  const trailers = [
    `Fleetloom-Session: ${sessionId}`,
    ...names.map((name) => `Co-authored-by: ${name} <${toMailbox(name)}@agents.fleetloom.invalid>`),
  ];
  return `${subject.trim()}\n\n${trailers.join('\n')}\n`;
}

/** Characters of a first line: common tools truncate longer ones. */
const SUBJECT_CHARS = 72;

/** The name of an agent without control characters and angle brackets, which would break the trailer. */
function toName(agent: string): string {
  return agent.replaceAll(/[\p{Cc}<>]+/gu, ' ').trim() || 'agent';
}

function toMailbox(name: string): string {
  const mailbox = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return mailbox === '' ? 'agent' : mailbox;
}

/** The author of commits: `user` of the repository's configuration, or of this account's. */
export async function findAuthor(
  repository: SnapshotRepository,
  settings: readonly Setting[],
): Promise<Pick<CommitText, 'name' | 'email'>> {
  const own = (wanted: string) => settings.findLast(([section, , name]) => section === 'user' && name === wanted)?.[3];
  return {
    name: own('name') ?? (await readSetting(repository, 'user.name')) ?? 'Fleetloom',
    email: own('email') ?? (await readSetting(repository, 'user.email')) ?? 'fleetloom@fleetloom.invalid',
  };
}

/** Reads a setting from git's configuration files of this account. Their includes are not followed. */
async function readSetting(repository: SnapshotRepository, key: string): Promise<string | undefined> {
  const config = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  for (const file of [join(homedir(), '.gitconfig'), join(config, 'git', 'config')]) {
    const args = ['config', '--file', file, '--no-includes', '--get', key];
    const found = await repository.run(args, { codes: [1] }).catch(() => undefined);
    const value = found?.stdout.toString().trim();
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
