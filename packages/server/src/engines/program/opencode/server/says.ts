import type { InputBlock } from '../../../../base/content.ts';
import { inBackground } from '../../../../base/in-background.ts';
import type { Cancel, Schedule } from '../../../../base/schedule.ts';
import { programLimits } from '../../limits.ts';
import { record } from '../../lines/values.ts';
import { MAIN, type ProgramEvent } from '../../program.ts';
import type { OpencodeModel } from '../launch/model-choice.ts';
import { MAIN_AGENT } from '../launch/to-config.ts';
import type { OpencodeTranslator } from '../translate/opencode-translator.ts';
import { readStatus } from '../wire/read-event.ts';
import type { OpencodeServer } from './opencode-server.ts';
import { toParts } from './to-parts.ts';

/** Options of sending messages to the main agent. */
export interface SaysOptions {
  readonly schedule: Schedule;
  readonly nextId: () => string;
  readonly server: () => Pick<OpencodeServer, 'send' | 'isReady'>;
  readonly translator: () => OpencodeTranslator | undefined;
  /** Returns the fields that are sent with a message. Null: the model cannot be used. */
  readonly toPrompt: () => Promise<{ readonly model: OpencodeModel; readonly system?: string } | null>;
  readonly onEvents: (events: readonly ProgramEvent[]) => void;
}

interface Said {
  id: string;
  readonly parts: readonly object[];
  /** How many times the message was sent. */
  times: number;
  isSent: boolean;
}

/**
 * Sends messages to the main agent. opencode stores a message that arrives between the two reports of a run's end, and does not answer it: no message
 * is sent then, and a message that is stored and not answered is sent again.
 */
export class Says {
  readonly #options: SaysOptions;
  #said: Said[] = [];
  #isSending = false;
  #isClosed = false;
  #cancelLook: Cancel | undefined;

  constructor(options: SaysOptions) {
    this.#options = options;
  }

  say(content: readonly InputBlock[]): void {
    const said: Said = { id: this.#options.nextId(), parts: toParts(content), times: 0, isSent: false };
    this.#said.push(said);
    this.#options.translator()?.said(said.id);
    this.pump();
  }

  /** Sends messages that can be sent, and forgets messages that were answered. */
  pump(): void {
    const translator = this.#options.translator();
    if (translator === undefined || this.#isClosed) return;
    this.#said = this.#said.filter(({ id }) => translator.unanswered.includes(id));
    const next = this.#said.find(({ isSent }) => !isSent);
    const isHeld = translator.isMainSettling || !this.#options.server().isReady;
    if (next !== undefined && !isHeld && !this.#isSending)
      inBackground(this.#send(next), (error) => this.#fail(next, error));
    this.#watch(translator);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
  }

  async #send(said: Said): Promise<void> {
    this.#isSending = true;
    try {
      const prompt = await this.#options.toPrompt();
      if (prompt === null) throw new Error('the model cannot be used');
      said.isSent = true;
      said.times++;
      const conversation = this.#options.translator()?.conversationOf(MAIN);
      const body = { messageID: said.id, agent: MAIN_AGENT, parts: said.parts, ...prompt };
      const { status } = await this.#options.server().send('POST', `/session/${conversation}/prompt_async`, body);
      if (status >= 300) throw new Error(`opencode did not take the message (status ${status})`);
    } finally {
      this.#isSending = false;
    }
    this.pump();
  }

  #fail({ id }: Said, error: unknown): void {
    this.#said = this.#said.filter((said) => said.id !== id);
    const message = error instanceof Error ? error.message : String(error);
    this.#options.onEvents(this.#options.translator()?.failSaid(id, message) ?? []);
    this.pump();
  }

  /** Sends a message again if it is stored and no run answers it. */
  #watch(translator: OpencodeTranslator): void {
    const isLooking =
      this.#said.some(({ id, isSent }) => isSent && translator.isStored(id)) && !translator.isMainRunning;
    if (!isLooking) {
      this.#cancelLook?.();
      this.#cancelLook = undefined;
      return;
    }
    this.#cancelLook ??= this.#options.schedule(() => {
      this.#cancelLook = undefined;
      inBackground(this.#sayAgain(translator), () => {});
    }, programLimits.opencodeLostMs);
  }

  async #sayAgain(translator: OpencodeTranslator): Promise<void> {
    const conversation = translator.conversationOf(MAIN) ?? '';
    const statuses = (await this.#options.server().send('GET', '/session/status')).body;
    const isBusy = (readStatus(record(statuses)?.[conversation])?.type ?? 'idle') !== 'idle';
    const lost = this.#said.filter(({ id, isSent }) => isSent && translator.isStored(id));
    if (translator.isMainRunning || this.#isClosed) return;
    if (isBusy) return this.#watch(translator);
    for (const said of lost) {
      if (said.times >= programLimits.opencodeSaysMax) {
        this.#fail(said, new Error('opencode did not answer the message'));
        continue;
      }
      await this.#options.server().send('DELETE', `/session/${conversation}/message/${said.id}`);
      const id = this.#options.nextId();
      translator.saidAgain(said.id, id);
      said.id = id;
      said.isSent = false;
    }
    this.pump();
  }
}
