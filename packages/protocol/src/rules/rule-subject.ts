import type { RuleMatch } from '../fleet/wire/approval-rules.ts';
import { toSimpleCommand } from './simple-command.ts';

/** The subject of a rule about a tool: the command, the path of the file, or the whole input. */
export type RuleSubject =
  | { readonly type: 'command'; readonly field: string; readonly others: readonly string[] }
  /** The input names the file in one of `fields`. */
  | { readonly type: 'path'; readonly fields: readonly string[]; readonly others: readonly string[] }
  | { readonly type: 'input' };

/** The subject of rules about this tool. `others`: fields that do not affect what the call may do; any other field does. */
export function ruleSubjectOf(tool: string): RuleSubject {
  if (SHELLS.has(tool)) return { type: 'command', field: 'command', others: SHELL_FIELDS };
  if (FILE_TOOLS.has(tool)) return { type: 'path', fields: PATH_FIELDS, others: FILE_FIELDS };
  return WHOLE;
}

/** Whether a rule may answer approvals of this tool at all. A plan or further permissions are always a person's decision. */
export function canHaveRules(tool: string): boolean {
  return !NEVER.has(tool);
}

/**
 * Proposes a rule about this call for a person to edit; null if no rule can match it.
 *
 * @example
 * proposeRule('bash', { command: 'npm test --silent' }); // { type: 'command', pattern: 'npm test*' }
 */
export function proposeRule(tool: string, input: unknown): RuleMatch | null {
  if (!canHaveRules(tool)) return null;
  const subject = ruleSubjectOf(tool);
  if (subject.type === 'command') return proposeCommand(textIn(input, [subject.field]));
  if (subject.type === 'path') return proposePath(textIn(input, subject.fields));
  return { type: 'input', input };
}

function proposeCommand(text: string | undefined): RuleMatch | null {
  const command = toSimpleCommand(text ?? '');
  if (command === null) return null;
  const words = command.split(' ');
  const end = words.findIndex((word, index) => index > 0 && (index === 2 || !/^[a-z][a-z0-9:_-]*$/i.test(word)));
  // A star right after the program would allow all of its subcommands.
  const begins = words.slice(0, end === -1 ? words.length : end);
  return { type: 'command', pattern: begins.length < 2 ? command : `${begins.join(' ')}*` };
}

function proposePath(path: string | undefined): RuleMatch | null {
  if (path === undefined || path === '') return null;
  const inside = path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : path;
  const name = inside.slice(inside.lastIndexOf('/') + 1);
  // The path of the workspace on the machine of the server is unknown here.
  if (inside.startsWith('/')) return { type: 'path', pattern: `**/${name}` };
  return { type: 'path', pattern: inside.includes('/') ? `${inside.slice(0, inside.lastIndexOf('/'))}/*` : inside };
}

function textIn(input: unknown, fields: readonly string[]): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const found = fields.map((field) => (input as Readonly<Record<string, unknown>>)[field]);
  return found.find((value): value is string => typeof value === 'string');
}

const WHOLE = { type: 'input' } as const;

// The tools of the server, of Claude Code, of Codex and of opencode. Any other tool is compared by its whole input.
const SHELLS = new Set(['bash', 'Bash', 'exec_command']);
const FILE_TOOLS = new Set(['read', 'write', 'edit', 'Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit']);
const PATH_FIELDS = ['file_path', 'filePath', 'notebook_path'];
const SHELL_FIELDS = ['description', 'timeout', 'timeout_ms', 'cwd'];
const FILE_FIELDS =
  'content old_string new_string oldString newString replace_all replaceAll edits view_range offset limit pages new_source cell_id cell_type edit_mode'.split(
    ' ',
  );
const NEVER = new Set(['EnterPlanMode', 'ExitPlanMode', 'AskUserQuestion', 'request_permissions', 'plan_exit']);
