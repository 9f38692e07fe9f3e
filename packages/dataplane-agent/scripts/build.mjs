// Builds the addon with cargo and puts it beside host.mjs as tollway.PROFILE.node.
//   node scripts/build.mjs [--release | --profile NAME]   (default: $TOLLWAY_CARGO_PROFILE, else release)
import { execFileSync } from 'node:child_process';
import { copyFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: { release: { type: 'boolean', default: false }, profile: { type: 'string' } },
});
const profile = values.release ? 'release' : (values.profile ?? process.env.TOLLWAY_CARGO_PROFILE ?? 'release');
execFileSync('cargo', ['build', '--locked', '--profile', profile, '-p', 'tollway-binding'], {
  cwd: root,
  stdio: 'inherit',
});
const target = process.env.CARGO_TARGET_DIR ?? path.join(root, 'target');
const built = path.join(target, profile === 'dev' ? 'debug' : profile, 'libtollway_binding.so');
const addon = path.join(root, `tollway.${profile}.node`);
// A running agent keeps the file it has mapped, and two builds at once do not take each other's copy.
const copy = path.join(root, `tollway.${profile}.${process.pid}.node`);
copyFileSync(built, copy);
renameSync(copy, addon);
