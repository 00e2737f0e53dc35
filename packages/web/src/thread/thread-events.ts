import { isCutOff } from '@fleetloom/client';
import type { Page, SessionEvent } from '@fleetloom/protocol/managed-agents';
import { Signal } from '../app/signal.ts';
import { api } from '../connection/api.ts';
import { type Block, toBlocks } from './transcript.ts';

/**
 * What happened in one thread, as the list of its events says. New ones are on the last page or behind it: that one is asked
 * for again when something has happened.
 */
export class ThreadEvents {
  readonly changed = new Signal();
  isRead = false;
  problem = '';
  readonly #path: string;
  /** Of pages that are full, and of the last one. */
  readonly #settled: SessionEvent[] = [];
  #last: readonly SessionEvent[] = [];
  #page = '';
  #isReading = false;
  #isWanted = false;
  #blocks: readonly Block[] | undefined;
  #isCutOff: boolean | undefined;

  constructor(sessionId: string, threadId: string) {
    this.#path = `v1/sessions/${sessionId}/threads/${threadId}/events?limit=${PAGE_EVENTS}`;
  }

  get events(): readonly SessionEvent[] {
    return [...this.#settled, ...this.#last];
  }

  get blocks(): readonly Block[] {
    return (this.#blocks ??= toBlocks(this.events));
  }

  /** Of the thread of a coordinator: something was lost since the last message, e.g. a command in the background. */
  get isCutOff(): boolean {
    return (this.#isCutOff ??= isCutOff(this.events));
  }

  /** Reads what is new. Asked again meanwhile, it reads once more. */
  async refresh(): Promise<void> {
    this.#isWanted = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        await this.#read();
      }
      this.problem = '';
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.#isReading = false;
      this.isRead = true;
      this.changed.emit();
    }
  }

  async #read(): Promise<void> {
    for (;;) {
      const page = this.#page === '' ? '' : `&page=${encodeURIComponent(this.#page)}`;
      const answer = await api.get<Page<SessionEvent>>(`${this.#path}${page}`);
      const isSame = answer.data.length === this.#last.length && answer.data.at(-1)?.id === this.#last.at(-1)?.id;
      const isProcessed = answer.data.at(-1)?.processed_at === this.#last.at(-1)?.processed_at;
      this.#last = answer.data;
      if (!isSame || !isProcessed) this.#blocks = undefined;
      this.#isCutOff = undefined;
      // The first page at once, and then all: making blocks of a long history again for each page would take for ever.
      if (this.#blocks === undefined && (this.#settled.length === 0 || answer.next_page === null)) this.changed.emit();
      if (answer.next_page === null) return;
      for (const event of answer.data) this.#settled.push(event);
      this.#last = [];
      this.#page = answer.next_page;
    }
  }
}

const PAGE_EVENTS = 500;
