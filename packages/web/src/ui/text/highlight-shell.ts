/** A part of a command with its role. */
export interface ShellPart {
  readonly kind: 'command' | 'option' | 'text' | 'sign' | 'plain' | 'comment' | 'variable';
  readonly text: string;
}

/** Splits a command for highlighting. The joined parts are exactly the text. */
export function highlightShell(text: string): readonly ShellPart[] {
  const parts: ShellPart[] = [];
  let isCommand = true;
  for (const [part] of text.matchAll(PART)) {
    const kind = kindOf(part, isCommand);
    parts.push({ kind, text: part });
    if (kind === 'sign') isCommand = !/^[<>]/.test(part);
    else if (part.includes('\n')) isCommand = true;
    else if (part.trim() !== '' && kind !== 'comment' && !/^\w+=/.test(part)) isCommand = false;
  }
  return parts;
}

const PART = /"(?:\\.|[^"\\])*"?|'[^']*'?|#[^\n]*|\$\{?\w+\}?|[|&;()<>]+|\n\s*|[^\S\n]+|[^\s|&;()<>"'$]+|./gs;

function kindOf(part: string, isCommand: boolean): ShellPart['kind'] {
  if (part.trim() === '') return 'plain';
  if (/^["']/.test(part)) return 'text';
  if (part.startsWith('#')) return 'comment';
  if (part.startsWith('$')) return 'variable';
  if (/^[|&;()<>]/.test(part)) return 'sign';
  if (part.startsWith('-')) return 'option';
  return isCommand ? 'command' : 'plain';
}
