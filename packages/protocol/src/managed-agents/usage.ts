/** Money as text, so that nothing is rounded. */
export interface MonetaryAmount {
  /** A whole number of cents without leading zeros: `2500` is 25 dollars. */
  readonly amount: string;
  readonly currency: 'USD';
}

/** Spend no more than this: when list prices add up to it, no further model request is made. */
export interface Budget {
  readonly type: 'limit';
  readonly max_list_cost: MonetaryAmount;
}

/** What was used from the beginning on, by a session or by one thread of it. */
export interface Usage {
  /** Without what was read from or written to the cache. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: CacheCreationUsage;
  /** How long it ran. Of a session: while any of its threads ran, however many. */
  readonly active_seconds: number;
  /** At list prices. Absent where no price is known for a model that was used. */
  readonly list_cost?: MonetaryAmount;
  readonly server_tool_use?: ServerToolUsage;
}

/** By how long the cache keeps them. */
export interface CacheCreationUsage {
  readonly ephemeral_5m_input_tokens: number;
  readonly ephemeral_1h_input_tokens: number;
}

/** Calls that the server made itself. */
export interface ServerToolUsage {
  readonly web_fetch_requests: number;
  readonly web_search_requests: number;
}

/** What one model request used. */
export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly speed?: 'standard' | 'fast' | null;
}
