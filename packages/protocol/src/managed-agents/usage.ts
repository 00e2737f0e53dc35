/** An amount of money as text, so that nothing is rounded. */
export interface MonetaryAmount {
  /** A whole number of cents without leading zeros: `2500` is 25 dollars. */
  readonly amount: string;
  readonly currency: 'USD';
}

/** A spending limit: once list prices add up to it, no further model request is sent. */
export interface Budget {
  readonly type: 'limit';
  readonly max_list_cost: MonetaryAmount;
}

/** The usage of a session or a thread since its creation. */
export interface Usage {
  /** Input tokens, without tokens read from or written to the cache. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: CacheCreationUsage;
  /** How long the thread ran; for a session, how long at least one of its threads ran. */
  readonly active_seconds: number;
  /** The cost at list prices; absent if the price of a model that was used is not known. */
  readonly list_cost?: MonetaryAmount;
  readonly server_tool_use?: ServerToolUsage;
}

/** Tokens written to the cache, by its lifetime. */
export interface CacheCreationUsage {
  readonly ephemeral_5m_input_tokens: number;
  readonly ephemeral_1h_input_tokens: number;
}

/** Calls of server tools. */
export interface ServerToolUsage {
  readonly web_fetch_requests: number;
  readonly web_search_requests: number;
}

/** The usage of one model request. */
export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly speed?: 'standard' | 'fast' | null;
}
