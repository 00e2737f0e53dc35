/** Finds the new text in the output of a running call, if a program repeatedly sends all of it, or the end of it. */
export class GrowingOutput {
  #chars = 0;
  #tail = '';

  /** Returns the new text of the output; all of it if it no longer contains the previous output. */
  take(output: string): string {
    const tail = this.#tail;
    const isGrown = output.startsWith(tail, this.#chars - tail.length);
    const at = tail === '' || isGrown ? this.#chars : endOf(output, tail);
    const added = output.slice(at);
    this.#chars = output.length;
    this.#tail = output.slice(-TAIL_CHARS);
    return added;
  }
}

/** The position after the previous output in a text whose beginning was cut. */
function endOf(output: string, tail: string): number {
  const at = output.lastIndexOf(tail);
  return at < 0 ? 0 : at + tail.length;
}

const TAIL_CHARS = 200;
