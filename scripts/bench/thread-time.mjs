// @ts-check
/** CPU time of the threads of a process. */
import { readdirSync, readFileSync } from 'node:fs';

/** /proc/PID/task/TID/schedstat counts in nanoseconds. */
const NANOSECONDS = 1e9;

/**
 * CPU time that the threads of a process have used so far, by thread.
 * @param {number} pid
 * @returns {Map<string, { name: string, seconds: number }>} by thread id
 */
function threadTimes(pid) {
  /** @type {Map<string, { name: string, seconds: number }>} */
  const times = new Map();
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    try {
      const task = `/proc/${pid}/task/${tid}`;
      const [onCore = 0] = readFileSync(`${task}/schedstat`, 'utf8').split(' ').map(Number);
      times.set(tid, { name: readFileSync(`${task}/comm`, 'utf8').trim(), seconds: onCore / NANOSECONDS });
    } catch {
      // The process has ended between the listing and the read.
    }
  }
  return times;
}

/**
 * Starts to measure processes; the returned function gives the share of a core that their chosen threads have used
 * since.
 * @param {readonly { pid: number, counts: (thread: string) => boolean }[]} processes
 * @returns {() => number}
 */
export function measureShare(processes) {
  const total = () =>
    processes.map(({ pid, counts }) => {
      let seconds = 0;
      for (const thread of threadTimes(pid).values()) if (counts(thread.name)) seconds += thread.seconds;
      return seconds;
    });
  const before = total();
  const started = process.hrtime.bigint();
  return () => {
    const elapsed = Number(process.hrtime.bigint() - started) / 1e9;
    const used = total().reduce((sum, seconds, index) => sum + seconds - (before[index] ?? 0), 0);
    return used / elapsed;
  };
}
