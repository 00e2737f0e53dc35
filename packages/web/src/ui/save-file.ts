/** Downloads a text as a file. */
export function saveText(content: string, type: string, name: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  saveUrl(url, name);
  // Long enough for the browser to start the download.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Downloads the response of a URL of this server. */
export function saveUrl(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}
