import { hasHidden } from '@fleetloom/protocol/text';

/** Why a person should look twice before allowing a call. */
export interface RiskHint {
  readonly kind: 'delete' | 'network' | 'outside' | 'privilege' | 'hidden';
  readonly text: string;
  /** Whether a single key press must not allow the call. */
  readonly isGrave: boolean;
}

/** The hints about a call. They do not protect: the sandbox and the deciding person must catch other risks. */
export function riskHints(tool: string, input: unknown): readonly RiskHint[] {
  const texts = textsOf(input, 0);
  const command = tool === 'bash' ? texts.join('\n') : '';
  const hints: RiskHint[] = [];
  const add = (kind: RiskHint['kind'], text: string, isGrave: boolean) => hints.push({ kind, text, isGrave });
  if (DELETES.test(command)) add('delete', 'deletes or overwrites', true);
  if (PRIVILEGE.test(command)) add('privilege', 'asks for more rights', true);
  if (NETWORK.test(command) || /^web_|fetch/.test(tool)) add('network', 'reaches the network', false);
  if (pathsOf(tool, input, command).some(isOutside)) add('outside', 'outside the working directory', false);
  if (texts.some(hasHidden)) add('hidden', 'has characters that cannot be seen', true);
  return hints;
}

const DELETES =
  /\brm\s+(?:-\w*\s+)*\S|\brmdir\b|\bunlink\b|\bshred\b|\bmkfs|\bdd\s+if=|\bgit\s+(?:clean|reset\s+--hard|push\s+.*(?:-f\b|--force))|\bdrop\s+(?:table|database)\b|\btruncate\b|--delete\b|\bfind\b.*-delete/i;
const PRIVILEGE = /\b(?:sudo|doas|su|chmod\s+(?:-R\s+)?[0-7]*7[0-7]{2}|chown|setcap)\b/;
const NETWORK =
  /\b(?:curl|wget|ssh|scp|rsync|nc|ncat|telnet|ftp|npm\s+(?:i|install|publish)|pip3?\s+install|git\s+(?:push|pull|clone|fetch))\b|https?:\/\//i;

function pathsOf(tool: string, input: unknown, command: string): readonly string[] {
  if (tool === 'bash') return command.split(/[\s'"=;|&<>()]+/);
  const { file_path: path, path: other } = (typeof input === 'object' && input !== null ? input : {}) as Record<
    string,
    unknown
  >;
  return [path, other].filter((one) => typeof one === 'string');
}

function isOutside(path: string): boolean {
  const isHarmless = /^\/(?:dev\/(?:null|std(?:in|out|err))|workspace(?:\/|$))/.test(path);
  return !isHarmless && (/^(?:\/[^/]|~)/.test(path) || path.split('/').includes('..'));
}

/** All texts of an input, up to 6 levels deep. */
function textsOf(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 6) return [];
  return Object.values(value).flatMap((one) => textsOf(one, depth + 1));
}
