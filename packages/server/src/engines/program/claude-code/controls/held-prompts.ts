import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import type { Cancel, Schedule } from '../../../../base/schedule.ts';
import type { SettingsChoice } from '../../program.ts';
import type { ProgramSettings } from '../../program.ts';
import { SettingsReport } from './settings-report.ts';

/** Options of the prompts that wait for the settings report. */
export interface HeldPromptsOptions {
  readonly settings: SettingsChoice;
  readonly write: (line: string) => void;
  readonly schedule: Schedule;
  readonly onLoaded: (loaded: ProgramSettings) => void;
}

/** Holds prompts until the program has reported which settings it has loaded. Without settings to load, prompts are sent at once. */
export class HeldPrompts {
  readonly #options: HeldPromptsOptions;
  /** The report that prompts wait for; undefined if they do not wait. */
  #report: SettingsReport | undefined;
  #held: string[] = [];
  #cancelWait: Cancel = () => {};

  constructor(options: HeldPromptsOptions) {
    this.#options = options;
    if (options.settings !== 'none') this.#report = new SettingsReport(options.settings);
  }

  /** Requests the report. */
  begin(): void {
    if (this.#report === undefined) return;
    for (const line of this.#report.requests) this.#options.write(line);
    this.#cancelWait = this.#options.schedule(() => this.#release(), programLimits.programSettingsMs);
  }

  write(line: string): void {
    if (this.#report === undefined) this.#options.write(line);
    else this.#held.push(line);
  }

  /** Whether the line belongs to the report. */
  takeReport(line: StreamJsonMessage): boolean {
    if (this.#report?.take(line) !== true) return false;
    if (this.#report.isComplete) this.#release();
    return true;
  }

  /** Drops held prompts: the program has exited. */
  close(): void {
    this.#cancelWait();
    this.#held = [];
  }

  #release(): void {
    this.#cancelWait();
    const report = this.#report;
    if (report === undefined) return;
    this.#report = undefined;
    this.#options.onLoaded(report.toEvent());
    for (const line of this.#held) this.#options.write(line);
    this.#held = [];
  }
}
