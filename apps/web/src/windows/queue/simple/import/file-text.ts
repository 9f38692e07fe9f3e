/** The text of a file with subscribers. Pure. */

/** Maximum size of a list, bytes: the router accepts no larger request. */
export const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Decodes a file in the encodings that spreadsheets write: UTF-8, UTF-16 with a byte order mark, or else Windows-1252.
 */
export function fileText(bytes: Uint8Array): string {
  const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-16be';
  if (utf16 === 'utf-16le' || (bytes[0] === 0xfe && bytes[1] === 0xff)) return new TextDecoder(utf16).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
