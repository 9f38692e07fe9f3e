// @ts-check
/** CPU time of the whole machine. */
import { readdirSync, readFileSync } from 'node:fs';

/** Unit of /proc/stat, seconds: hundredths of a second (USER_HZ) on every supported architecture. */
const TICK = 0.01;

/** CPU time since boot, seconds: of all cores together idle, stolen by the hypervisor; and the number of cores. */
function cpuTimes() {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n');
  const [, , , idle = 0, iowait = 0, , , steal = 0] = (lines[0] ?? '').trim().split(/\s+/).slice(1).map(Number);
  return {
    idle: (idle + iowait) * TICK,
    steal: steal * TICK,
    cpus: lines.filter((line) => /^cpu\d/.test(line)).length,
  };
}

/**
 * CPU time of processes that do not belong to this bench, seconds. Children that ended are in their
 * parents' sums. Kernel threads are left out: they work for whoever causes the work.
 */
function foreignTime() {
  /** @type {Map<number, { parent: number, time: number }>} */
  const processes = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15).map(Number);
      processes.set(Number(name), { parent: Number(fields[1]), time: utime + stime + cutime + cstime });
    } catch {
      // The process has ended between the listing and the read.
    }
  }
  const belongs = (/** @type {number} */ pid, /** @type {number} */ root) => {
    for (let at = pid; at > 0; at = processes.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  let ticks = 0;
  for (const [pid, { time }] of processes) {
    if (pid > 2 && !belongs(pid, 2) && !belongs(pid, process.pid)) ticks += time;
  }
  return ticks * TICK;
}

/**
 * Starts a measurement; the returned function ends it and gives
 * - `busy`: core-seconds in which some core was neither idle nor stolen, nor ran another program. Taken from
 *   the idle time, which the kernel keeps exactly, where busy time is sampled by a tick of 4 ms;
 * - `foreign`: core-seconds of processes that do not belong to the bench (sampled by that tick);
 * - `seconds`: wall time.
 * @typedef {{ busy: number, foreign: number, seconds: number }} Busy
 * @returns {() => Busy}
 */
export function measureBusy() {
  const foreignBefore = foreignTime();
  const from = cpuTimes();
  const started = process.hrtime.bigint();
  return () => {
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    const to = cpuTimes();
    const foreign = Math.max(0, foreignTime() - foreignBefore);
    const unused = to.idle - from.idle + to.steal - from.steal;
    return { seconds, busy: seconds * to.cpus - unused - foreign, foreign };
  };
}
