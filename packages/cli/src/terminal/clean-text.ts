/**
 * Agent text is hostile input: it may carry escape sequences that move the cursor, set the window's title or rewrite
 * what was printed before. Returns the text with nothing left but printable characters and LF (SPEC C5).
 *
 * The sequences are removed first, so that their parameters do not stay behind as litter; safety does not depend on
 * that step, because the second one removes every control character whatever it belonged to.
 */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(SEQUENCES, '')
    .replace(LINE_ENDS, '\n')
    .replaceAll('\t', '  ')
    .replace(FORBIDDEN, '')
    .replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The same on one line: runs of white space become one blank. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

const PLAIN = /^[\x20-\x7e\n]*$/;

/**
 * CSI, then OSC/DCS/SOS/PM/APC up to their terminator, then any other two-character escape. Seven and eight bit forms.
 * No part runs over the beginning of another sequence, so that a text full of beginnings is still read once.
 */
const SEQUENCES = new RegExp(
  [
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]',
    '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u0080-\\u009f\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)',
    '\\u001b[ -/]+[0-~]',
    '\\u001b[0-Z\\\\^-~]',
  ].join('|'),
  'g',
);

const LINE_ENDS = /\r\n|\r|\u0085|\u2028|\u2029|\v|\f/g;

/** Controls, marks that reorder text (bidirectional overrides and isolates), invisible tags, the byte order mark. */
const FORBIDDEN = new RegExp(
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  '[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb]|[\\u{e0000}-\\u{e007f}]',
  'gu',
);
