/** Ends the login of this browser on the server, and opens the sign-in page, or the page that signs out of the identity provider. */
export async function signOut(): Promise<void> {
  const response = await fetch('./logout', { method: 'POST', headers: { accept: 'application/json' } });
  // The server responds with an error if the login has already ended.
  const { location: next = './login' } = response.ok ? ((await response.json()) as { location?: string }) : {};
  location.assign(next);
}
