/** The health of the router: problems that follow from the values on the dashboard. Pure. */
import { dropReason } from './drop-reasons.ts';

type Level = 'trouble' | 'warning';

/** A problem. */
export interface Finding {
  readonly level: Level;
  readonly text: string;
  /** Address of the window with the details; absent if there is none. */
  readonly opens?: string;
}

/** The present values. Unknown numbers are 0, unknown lists empty. */
export interface Facts {
  /** Whether the router answers; unless `now`, nothing else is examined. */
  readonly heard: 'now' | 'not-yet' | 'no-more' | 'logged-out';
  /** Reason why the management plane does not work, a text of the router. */
  readonly problem?: string | undefined;
  /** State of the packet engine, by the topic `status`: `synced`, `behind`, `refused`, `down` … */
  readonly engine: string;
  /** Alarms of the router, a sentence each. */
  readonly alarms: readonly string[];
  /** Names of enabled interfaces that had a link and lost it. */
  readonly lostLinks: readonly string[];
  /** The last samples, oldest first: load of each core in percent and drops per second. */
  readonly recent: readonly {
    readonly cpu: ReadonlyMap<number, number>;
    readonly drops: ReadonlyMap<string, number>;
  }[];
  readonly connections: number;
  readonly maxConnections: number;
  /** Used share of the connection table of the worker with the most connections, 0 to 1. */
  readonly fullestShare: number;
  /** Bytes. */
  readonly freeMemory: number;
  readonly totalMemory: number;
}

/** Number of consecutive samples, one a second, for which a condition must hold; shorter peaks are no problem. */
const LASTING = 5;
/** Load at which a core counts as saturated, percent. */
const SATURATED = 95;

const ENGINE: Readonly<Record<string, Omit<Finding, 'level'>>> = {
  down: { text: 'The packet engine does not answer', opens: '/log' },
  refused: { text: 'The packet engine refuses the newest configuration', opens: '/log' },
  ahead: { text: 'The packet engine runs a newer configuration than is stored', opens: '/log' },
};

function engine(facts: Facts): readonly Finding[] {
  const found = ENGINE[facts.engine];
  return found === undefined ? [] : [{ level: 'trouble', ...found }];
}

/** Maximum number of alarms that are shown individually. */
const ALARMS = 5;

function alarms({ alarms: all }: Facts): readonly Finding[] {
  const shown = all.slice(0, ALARMS).map((text) => ({ level: 'trouble' as const, text, opens: alarmWindow(text) }));
  const more = all.length - shown.length;
  return more > 0 ? [...shown, { level: 'trouble', text: `${more} more are in the log`, opens: '/log' }] : shown;
}

/** Address of the menu that an alarm names, or of the log. */
const alarmWindow = (text: string): string => /: (\/ip\/firewall\/\w+) \*/.exec(text)?.[1] ?? '/log';

function links({ lostLinks }: Facts): readonly Finding[] {
  const [first] = lostLinks;
  if (first === undefined) return [];
  const text = lostLinks.length === 1 ? `${first} has no link` : `${lostLinks.join(', ')} have no link`;
  return [{ level: 'warning', text, opens: '/interface' }];
}

/**
 * Cores that were saturated in each of the last samples. A single saturated core is a problem, whatever the average.
 */
function cores({ recent }: Facts): readonly Finding[] {
  const last = recent.slice(-LASTING);
  if (last.length < LASTING) return [];
  const full = [...(last[0]?.cpu.keys() ?? [])].filter((core) =>
    last.every((sample) => (sample.cpu.get(core) ?? 0) >= SATURATED),
  );
  if (full.length === 0) return [];
  const all = full.length === last[0]?.cpu.size && full.length > 1;
  const text = all
    ? 'All cores are fully busy'
    : full.length === 1
      ? `CPU ${full[0]} is fully busy`
      : `CPU ${full.join(', ')} are fully busy`;
  return [{ level: 'warning', text, opens: '/tool/profile' }];
}

function drops({ recent }: Facts): readonly Finding[] {
  const last = recent.slice(-LASTING);
  const reasons = new Set(last.flatMap((sample) => [...sample.drops.keys()]));
  return [...reasons].flatMap((reason) => {
    const { weight, label, opens } = dropReason(reason);
    if (weight !== 'trouble') return [];
    const mean = last.reduce((sum, sample) => sum + (sample.drops.get(reason) ?? 0), 0) / last.length;
    const rate = mean >= 1 ? `${Math.round(mean)} p/s` : 'some packets';
    return [{ level: 'trouble' as const, text: `Dropping ${rate}: ${label.toLowerCase()}`, opens }];
  });
}

function rooms(facts: Facts): readonly Finding[] {
  const found: Finding[] = [];
  const all = facts.maxConnections > 0 ? facts.connections / facts.maxConnections : 0;
  // All connections that arrive at one port may belong to one worker.
  const share = Math.max(all, facts.fullestShare);
  if (share >= 0.8) {
    const percent = Math.floor(share * 100);
    const whose = all >= 0.8 ? '' : ' of one worker';
    found.push({
      level: share >= 0.95 ? 'trouble' : 'warning',
      text: `The connection table${whose} is ${percent}% full`,
      opens: '/ip/firewall/connection',
    });
  }
  if (facts.totalMemory > 0 && facts.freeMemory / facts.totalMemory < 0.05) {
    found.push({ level: 'warning', text: 'Less than 5% of the memory is free', opens: '/system/resource' });
  }
  return found;
}

/** The text when there is no problem. It only mentions what was examined. */
export const wellText = (revision: string): string =>
  `Forwarding by configuration ${revision}; no link is lost, and no core has been fully busy for ${LASTING} s.`;

/** The problems, the worst first. */
export function healthFindings(facts: Facts): readonly Finding[] {
  if (facts.heard === 'not-yet') return [{ level: 'warning', text: 'Nothing has come from the router yet' }];
  if (facts.heard === 'logged-out')
    return [{ level: 'warning', text: 'The session has ended: what stands here is old' }];
  if (facts.heard === 'no-more') {
    const { problem } = facts;
    const text =
      problem === undefined
        ? 'The router does not answer: the values here are old'
        : `${problem} What stands here is old`;
    return [{ level: 'trouble', text }];
  }
  const found = [
    ...alarms(facts),
    ...engine(facts),
    ...drops(facts),
    ...rooms(facts),
    ...links(facts),
    ...cores(facts),
  ];
  return [...found.filter((each) => each.level === 'trouble'), ...found.filter((each) => each.level === 'warning')];
}
