// @ts-check
/** Size of the files that a browser loads before the desktop of the web page is usable, and its limit. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

/** Maximum compressed size of the files that index.html loads, bytes. */
const FIRST_LOAD_MOST = 140 * 1024;

/** Paths of the scripts and style sheets that a page loads: those that it references, and those that it preloads. */
export function loadedBy(/** @type {string} */ html) {
  const tags = html.match(/<(?:script|link)\b[^>]*>/g) ?? [];
  return tags.flatMap((tag) => {
    const isLoaded = tag.startsWith('<script') || /\brel="(?:modulepreload|stylesheet)"/.test(tag);
    const address = /\b(?:src|href)="([^"]+)"/.exec(tag)?.[1];
    return isLoaded && address !== undefined ? [address] : [];
  });
}

/** @param {string} folder the built page @returns {number} bytes, each file compressed as the API does it (gzip, level 9) */
export function firstLoad(folder) {
  const files = loadedBy(readFileSync(path.join(folder, 'index.html'), 'utf8'));
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(path.join(folder, file)), { level: 9 }).length, 0);
}

/** @param {number} bytes @param {number} most @returns {string | undefined} what is wrong with a first load of that size */
export function tooLarge(bytes, most = FIRST_LOAD_MOST) {
  const kib = (/** @type {number} */ each) => `${(each / 1024).toFixed(1)} KiB`;
  return bytes <= most
    ? undefined
    : `the page loads ${kib(bytes)} before its desktop can be used; at most ${kib(most)}. What only some windows need is to be fetched with them: see docs/adding/window.md`;
}
