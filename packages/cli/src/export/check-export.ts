/** Looks on while an export comes in, and knows in the end whether it is whole (SPEC Y17). */
export interface ExportCheck {
  /** One line without its end. */
  line(text: string): void;
  /** What is wrong with it; undefined if nothing is. */
  end(): string | undefined;
}

export function createExportCheck(): ExportCheck {
  let lastSeq = 0;
  let frames = 0;
  let problem: string | undefined;
  let isBegun = false;
  let isEnded = false;
  return {
    line: (text) => {
      // Only their beginning: frames may have megabytes, and every line begins with what counts here.
      const [, seq, type] = /^\{"seq":(\d+),"type":"([^"]*)"/.exec(text) ?? [];
      if (seq !== undefined) {
        if (Number(seq) !== lastSeq + 1) problem ??= `frame ${lastSeq + 1} is missing`;
        lastSeq = type === 'pruned' ? lastOf(text) : Number(seq);
        frames += type === 'pruned' ? 0 : 1;
      } else if (text.startsWith('{"type":"export.end"')) {
        isEnded = true;
        const isSame = text === JSON.stringify({ type: 'export.end', frames, last_seq: lastSeq });
        if (!isSame) problem ??= 'it does not end where it says';
      } else if (text.startsWith('{"type":"export.begin"')) isBegun = true;
      if (!isBegun) problem ??= 'it has no beginning';
    },
    end: () => problem ?? (isEnded ? undefined : 'it is cut off'),
  };
}

function lastOf(text: string): number {
  return Number(/"last_seq":(\d+)/.exec(text)?.[1]);
}
