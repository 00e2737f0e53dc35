// The content of events. Only the server sends `redacted`.

/** Text. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** An image. */
export interface ImageBlock {
  readonly type: 'image';
  readonly source: Base64Source | UrlSource | FileSource;
}

/** A document. */
export interface DocumentBlock {
  readonly type: 'document';
  readonly source: Base64Source | UrlSource | FileSource | PlainTextSource;
  readonly title?: string | null;
  readonly context?: string | null;
}

/** Content as base64. */
export interface Base64Source {
  readonly type: 'base64';
  readonly data: string;
  readonly media_type: string;
}
/** Content at a URL. */
export interface UrlSource {
  readonly type: 'url';
  readonly url: string;
}
/** Content of an uploaded file. */
export interface FileSource {
  readonly type: 'file';
  readonly file_id: string;
}
/** Content as plain text. */
export interface PlainTextSource {
  readonly type: 'text';
  readonly data: string;
  readonly media_type: 'text/plain';
}

/** A search result. */
export interface SearchResultBlock {
  readonly type: 'search_result';
  readonly source: string;
  readonly title: string;
  readonly content: readonly TextBlock[];
  readonly citations: { readonly enabled: boolean };
}

/** Content that was removed. */
export interface RedactedBlock {
  readonly type: 'redacted';
}

/** Content of a message to an agent, from a user or another agent. */
export type MessageBlock = TextBlock | ImageBlock | DocumentBlock;
/** Content of a tool result. */
export type ResultBlock = MessageBlock | SearchResultBlock;
