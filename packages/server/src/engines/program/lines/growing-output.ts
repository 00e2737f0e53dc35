/** The output of a running call, of which a program sends all, or the end of it, again and again. */
export class GrowingOutput {
  #chars = 0;
  #tail = '';

  /** What is new in the output. Where what was sent before is no longer in it, all of it is. */
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

/** Where the end of what was sent before ends in a text whose beginning was cut. */
function endOf(output: string, tail: string): number {
  const at = output.lastIndexOf(tail);
  return at < 0 ? 0 : at + tail.length;
}

const TAIL_CHARS = 200;
