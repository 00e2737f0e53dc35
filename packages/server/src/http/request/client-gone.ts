/** The client closed its connection before the request was complete, or before it had read the response. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
