/** Checks whether an export is complete while it is read (SPEC Y17). */
export interface ExportCheck {
  /** Takes one line, without its newline. */
  line(text: string): void;
  /** Why the export is incomplete; undefined if it is complete. */
  end(): string | undefined;
}

/** Creates the check of one export. */
export function createExportCheck(): ExportCheck {
  let lastSeq = 0;
  let frames = 0;
  let problem: string | undefined;
  let isBegun = false;
  let isEnded = false;
  return {
    line: (text) => {
      // Only the beginning of a line is parsed: frames may be megabytes long.
      const [, seq, type] = /^\{"seq":(\d+),"type":"([^"]*)"/.exec(text) ?? [];
      if (seq !== undefined) {
        if (Number(seq) !== lastSeq + 1) problem ??= `frame ${lastSeq + 1} is missing`;
        lastSeq = type === 'pruned' ? lastOf(text) : Number(seq);
        frames += type === 'pruned' ? 0 : 1;
      } else if (text.startsWith('{"type":"export.end"')) {
        isEnded = true;
        const isSame = text === JSON.stringify({ type: 'export.end', frames, last_seq: lastSeq });
        if (!isSame) problem ??= 'its last line does not match its frames';
      } else if (text.startsWith('{"type":"export.begin"')) isBegun = true;
      if (!isBegun) problem ??= 'its first line is missing';
    },
    end: () => problem ?? (isEnded ? undefined : 'its last line is missing'),
  };
}

function lastOf(text: string): number {
  return Number(/"last_seq":(\d+)/.exec(text)?.[1]);
}
