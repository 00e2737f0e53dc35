/** Ends the login of this browser on the server, and opens the sign-in page, or the page that signs out of the identity provider. */
export async function signOut(): Promise<void> {
  const response = await fetch('./logout', { method: 'POST', headers: { accept: 'application/json' } });
  // A login that has ended already is answered with an error.
  const { location: next = './login' } = response.ok ? ((await response.json()) as { location?: string }) : {};
  location.assign(next);
}
