import { readFileSync } from 'node:fs';

/** Version of the product, from the package's own manifest. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
