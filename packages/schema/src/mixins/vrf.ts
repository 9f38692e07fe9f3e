import type { Prop } from '../menu.js';
import { reference } from '../props/reference.js';
import { readOnly } from './read-only.js';

/** The VRF that something is in: that of its interface, `main` for those in no other. */
export const vrf = (help: string): Readonly<Record<'vrf', Prop>> => ({
  vrf: readOnly(reference('/ip/vrf', 'name'), 'VRF', help),
});
