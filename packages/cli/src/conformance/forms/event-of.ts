import type { StreamEvent } from '@fleetloom/protocol/managed-agents';

/** The event of a type. Some types share an interface of the contract, so `Extract` alone would not find them. */
export type EventOf<Type extends StreamEvent['type']> = Narrow<StreamEvent, Type>;

type Narrow<Event, Type> = Event extends { readonly type: infer Its }
  ? Type extends Its
    ? Omit<Event, 'type'> & { readonly type: Type }
    : never
  : never;
