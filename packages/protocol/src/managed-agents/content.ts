// What is said in events. Only what the server sends may be `redacted`.

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly source: Base64Source | UrlSource | FileSource;
}

export interface DocumentBlock {
  readonly type: 'document';
  readonly source: Base64Source | UrlSource | FileSource | PlainTextSource;
  readonly title?: string | null;
  readonly context?: string | null;
}

export interface Base64Source {
  readonly type: 'base64';
  readonly data: string;
  readonly media_type: string;
}
export interface UrlSource {
  readonly type: 'url';
  readonly url: string;
}
export interface FileSource {
  readonly type: 'file';
  readonly file_id: string;
}
export interface PlainTextSource {
  readonly type: 'text';
  readonly data: string;
  readonly media_type: 'text/plain';
}

export interface SearchResultBlock {
  readonly type: 'search_result';
  readonly source: string;
  readonly title: string;
  readonly content: readonly TextBlock[];
  readonly citations: { readonly enabled: boolean };
}

/** Something that was taken out. */
export interface RedactedBlock {
  readonly type: 'redacted';
}

/** What somebody may say to an agent, and one agent to another. */
export type MessageBlock = TextBlock | ImageBlock | DocumentBlock;
/** What a tool may answer. */
export type ResultBlock = MessageBlock | SearchResultBlock;
