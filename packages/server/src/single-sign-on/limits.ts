/** Numbers that bound sign-ins at OpenID providers. Each has a test at its edge. */
export const signOnLimits = {
  /** Bytes of the configuration file. */
  configBytesMax: 256 * 1024,
  issuersMax: 20,
  grantsMax: 200,
  /** Values in one list of a grant. */
  grantValuesMax: 1_000,
  /** How long a person stays signed in, by default and at most. */
  sessionHours: 8,
  sessionHoursMax: 30 * 24,
  /** How far the clocks of a provider and of this server may differ, by default and at most. */
  clockSkewSeconds: 30,
  clockSkewSecondsMax: 300,
  /** How long a person may take to sign in at the provider. */
  flowMs: 10 * 60_000,
  /** How long the metadata of a provider is cached. Its keys are read again when a token names an unknown key. */
  metadataMs: 60 * 60_000,
  /** How long one request to a provider may take. */
  requestSeconds: 10,
  /** Bytes of a response of a provider. */
  responseBytesMax: 1024 * 1024,
  /** Characters of the query with which a browser returns from a provider. */
  callbackCharsMax: 8 * 1024,
  /** Groups of one person that are compared with grants. */
  groupsMax: 5_000,
  /** Characters of the subject of a person, as OpenID Connect bounds it, and of the displayed email and name. */
  subjectCharsMax: 255,
  emailCharsMax: 320,
  nameCharsMax: 200,
  /** Characters of an id token that is kept. Without it the provider asks the person to confirm signing out. */
  idTokenCharsMax: 16 * 1024,
  /** Audit entries that one node records per minute for rejected sign-ins of browsers that no provider has identified. */
  strangerEntriesPerMinute: 60,
  /** Bytes of the token of a back-channel logout. */
  logoutTokenBytesMax: 16 * 1024,
  /** How old the token of a back-channel logout may be. */
  logoutTokenMs: 5 * 60_000,
} as const;
