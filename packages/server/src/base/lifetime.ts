/**
 * A closing stack: everything that is opened is registered at the moment it is opened and closed in reverse order, also
 * when a later step of the start fails.
 *
 * @example
 * return await withLifetime(async (lifetime) => {
 *   const store = lifetime.add(await openStore(), (opened) => opened.close());
 *   const listener = lifetime.add(await listen(store), (opened) => opened.close());
 *   return { url: listener.url, close: () => lifetime.close() };
 * });
 */
export class Lifetime {
  readonly #closers: (() => unknown)[] = [];
  #closed: Promise<void> | undefined;

  /** Registers something that was just opened, and returns it. */
  add<Resource>(resource: Resource, close: (resource: Resource) => unknown): Resource {
    this.onClose(() => close(resource));
    return resource;
  }

  onClose(close: () => unknown): void {
    if (this.#closed !== undefined) throw new Error('This lifetime is over. Open resources before closing it.');
    this.#closers.push(close);
  }

  /**
   * Closes everything in reverse order. A failing closer does not keep the others from running; the first error is thrown
   * at the end. Calling it again waits for the same close.
   */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.toReversed()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

/** Runs a start sequence. When it fails, everything it opened is closed before the error is thrown. */
export async function withLifetime<Result>(start: (lifetime: Lifetime) => Promise<Result>): Promise<Result> {
  const lifetime = new Lifetime();
  try {
    return await start(lifetime);
  } catch (error) {
    // The error of the failed start is the one to report.
    await lifetime.close().catch(() => undefined);
    throw error;
  }
}
