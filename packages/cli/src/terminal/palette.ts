/** The meaning of a piece of text; the palette maps it to a colour. */
export type Style =
  | 'plain'
  | 'bold'
  | 'dim'
  | 'rail'
  | 'brand'
  | 'thinking'
  | 'thought'
  | 'writing'
  | 'tool'
  | 'attention'
  | 'waits'
  | 'retry'
  | 'ok'
  | 'failed';

/** How many colours the terminal shows. */
export type ColourDepth = 'none' | '16' | '256' | 'true';

/** Paints one piece of clean text. */
export type Paint = (text: string, style: Style) => string;

/** The Okabe–Ito colours, distinguishable for colour-blind readers; no meaning is expressed by colour alone. */
export function createPaint(depth: ColourDepth): Paint {
  if (depth === 'none') return (text) => text;
  const codes = CODES[depth];
  return (text, style) => {
    const code = codes[style];
    return code === '' || text === '' ? text : `\u001b[${code}m${text}\u001b[0m`;
  };
}

const CODES: Record<Exclude<ColourDepth, 'none'>, Record<Style, string>> = {
  '16': {
    plain: '',
    bold: '1',
    dim: '2',
    rail: '2',
    brand: '1;36',
    thinking: '35',
    thought: '2;3',
    writing: '36',
    tool: '32',
    attention: '1;33',
    waits: '34',
    retry: '33',
    ok: '32',
    failed: '31',
  },
  '256': {
    plain: '',
    bold: '1',
    dim: '2',
    rail: '38;5;240',
    brand: '1;38;5;74',
    thinking: '38;5;175',
    thought: '2;3',
    writing: '38;5;74',
    tool: '38;5;36',
    attention: '1;38;5;214',
    waits: '38;5;67',
    retry: '38;5;227',
    ok: '38;5;36',
    failed: '38;5;166',
  },
  true: {
    plain: '',
    bold: '1',
    dim: '2',
    rail: '38;2;96;102;112',
    brand: '1;38;2;86;180;233',
    thinking: '38;2;204;121;167',
    thought: '2;3',
    writing: '38;2;86;180;233',
    tool: '38;2;0;158;115',
    attention: '1;38;2;230;159;0',
    waits: '38;2;74;144;196',
    retry: '38;2;240;228;66',
    ok: '38;2;0;158;115',
    failed: '38;2;213;94;0',
  },
};
