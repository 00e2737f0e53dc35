import type {
  FleetSessionFacets,
  FleetSessionList,
  FleetSessionQuery,
  SessionsChanged,
} from '@fleetloom/protocol/fleet';
import { Signal } from './signal.ts';

/** The server's counts of the workspace's sessions by state. */
export class SessionCounts {
  readonly changed = new Signal();
  /** The counts; undefined until the server has responded, because an unknown number is not 0. */
  value: FleetSessionFacets['states'] | undefined;
  readonly #list: (query: FleetSessionQuery) => Promise<FleetSessionList>;

  constructor(list: (query: FleetSessionQuery) => Promise<FleetSessionList>) {
    this.#list = list;
  }

  /** Reads the counts: at the start, and after the connection was interrupted. */
  async read(): Promise<void> {
    const { facets } = await this.#list({ limit: 1 });
    this.#set(facets.states);
  }

  take({ counts }: Pick<SessionsChanged, 'counts'>): void {
    this.#set(counts);
  }

  #set(value: FleetSessionFacets['states']): void {
    this.value = value;
    this.changed.emit();
  }
}
