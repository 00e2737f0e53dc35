/** Ends the login of this browser on the server, and opens the sign-in page. */
export async function signOut(): Promise<void> {
  await fetch('./logout', { method: 'POST', redirect: 'manual' });
  location.assign('./login');
}
