// @ts-check
/** Requests that end a run. */
import { readFileSync } from 'node:fs';
import { commandLine, identify, isRunning, parentOf } from '../process.mjs';

/** @returns {Promise<string>} resolves with the reason when this run is to end */
export function stopRequest() {
  return new Promise((resolve) => {
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => resolve(signal));
    // Under nohup(1) the end of the terminal must not end this run.
    if (!hangUpIgnored()) process.on('SIGHUP', () => resolve('the terminal has gone'));
    // A killed npm (SIGKILL) cannot pass the signal on, and its child processes must not remain.
    const npm = npmAncestor();
    if (npm === undefined) return;
    setInterval(() => {
      if (!isRunning(npm)) resolve('npm has gone');
    }, 500).unref();
  });
}

/** Whether SIGHUP is ignored: bit 0 of SigIgn in /proc/self/status, proc_pid_status(5). */
function hangUpIgnored() {
  const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}

/** The npm that runs this script, if one does. */
function npmAncestor() {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  for (let pid = parentOf(process.pid); pid !== undefined && pid > 1; pid = parentOf(pid)) {
    if (/\bnpm\b/.test(commandLine(pid).split(' ').slice(0, 2).join(' '))) return identify(pid);
  }
  return undefined;
}
