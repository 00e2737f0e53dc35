/** Marks and lines of the tree, for terminals with and without Unicode. */
export interface Glyphs {
  thinking: readonly string[];
  spinner: readonly string[];
  writing: string;
  tool: string;
  needsYou: string;
  waits: string;
  retry: string;
  queued: string;
  done: string;
  failed: string;
  stopped: string;
  unfinished: string;
  thought: string;
  given: string;
  result: string;
  branch: string;
  lastBranch: string;
  rail: string;
  reach: string;
  ellipsis: string;
  dot: string;
  unknown: string;
  live: string;
  folded: string;
  unfolded: string;
  rule: string;
}

/** Unicode or ASCII glyphs. */
export function chooseGlyphs(unicode: boolean): Glyphs {
  return unicode ? UNICODE : ASCII;
}

const UNICODE: Glyphs = {
  thinking: ['◐', '◓', '◑', '◒'],
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  writing: '▸',
  tool: '⚙',
  needsYou: '!',
  waits: '⧗',
  retry: '↻',
  queued: '·',
  done: '✓',
  failed: '✗',
  stopped: '■',
  unfinished: '…',
  thought: '∴',
  given: '›',
  result: '→',
  branch: '├',
  lastBranch: '╰',
  rail: '│',
  reach: '─',
  ellipsis: '…',
  dot: '·',
  unknown: '–',
  live: '●',
  folded: '▸',
  unfolded: '▾',
  rule: '─',
};

const ASCII: Glyphs = {
  thinking: ['*', '*', '*', '*'],
  spinner: ['|', '/', '-', '\\'],
  writing: '>',
  tool: '*',
  needsYou: '!',
  waits: '~',
  retry: '@',
  queued: '.',
  done: '+',
  failed: 'x',
  stopped: '#',
  unfinished: '?',
  thought: '%',
  given: '>',
  result: '=',
  branch: '|',
  lastBranch: '`',
  rail: '|',
  reach: '-',
  ellipsis: '...',
  dot: '-',
  unknown: '-',
  live: '*',
  folded: '+',
  unfolded: '-',
  rule: '-',
};
