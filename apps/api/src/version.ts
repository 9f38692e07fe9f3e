import { readFileSync } from 'node:fs';

/** Version of the product, from the manifest of this package. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
