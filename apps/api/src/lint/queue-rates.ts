import type { QueueMenu } from '@tollway/protocol/queue-menus';
import { displayRate, durationMs } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import type { Finding, QueueFinding } from './queue-finding.js';
import type { QueueNode } from './queue-node.js';

/** The rates of a queue in one direction, or of both directions together. */
interface Rates {
  readonly limitAt: number;
  readonly maxLimit: number;
  readonly burstLimit: number;
  readonly burstThreshold: number;
  readonly burstMs: number;
  readonly priority: number;
}

/** The rates of a queue to which findings refer: one direction, or the total. */
interface Side {
  /** Prefix of the property names. */
  readonly prefix: '' | 'total-';
  /** Half of a pair; undefined for a single value. */
  readonly half: 0 | 1 | undefined;
  /** Direction before a rate in a message, for people. */
  readonly word: string;
}

const SIDES: Readonly<Record<QueueMenu, readonly Side[]>> = {
  '/queue/simple': [
    { prefix: '', half: 0, word: 'upload ' },
    { prefix: '', half: 1, word: 'download ' },
    { prefix: 'total-', half: undefined, word: '' },
  ],
  '/queue/tree': [{ prefix: '', half: undefined, word: '' }],
};

const LOWEST_PRIORITY = 8;

/** Rates and priorities that contradict each other or those of the parent, or that have no effect. */
export function* rateFindings(nodes: readonly QueueNode[]): Generator<undefined, QueueFinding[]> {
  const found: QueueFinding[] = [];
  for (const node of nodes) {
    for (const side of SIDES[node.menu]) found.push(...sideFindings(node, side));
    yield;
  }
  return found;
}

function sideFindings(node: QueueNode, side: Side): QueueFinding[] {
  const rates = ratesOf(node, side);
  const { menu, row, name } = node;
  const found = (finding: Finding, property: string, message: string): QueueFinding => ({
    menu,
    row: row.id,
    name,
    property: `${side.prefix}${property}`,
    finding,
    message,
  });
  return [
    ...guarantees(node, side, rates, found),
    ...ceilings(node, side, rates, found),
    ...priorities(node, side, rates, found),
    ...bursts(side, rates, found),
  ];
}

type Found = (finding: Finding, property: string, message: string) => QueueFinding;

const rateText = (rate: number): string => displayRate(String(rate));

function guarantees(node: QueueNode, side: Side, rates: Rates, found: Found): QueueFinding[] {
  const findings: QueueFinding[] = [];
  const { prefix, word } = side;
  if (rates.limitAt > 0 && node.parent === undefined) {
    findings.push(
      found(
        'limit-at-without-parent',
        'limit-at',
        `${word}${prefix}limit-at ${rateText(rates.limitAt)} has no effect without a parent to share the rate of`,
      ),
    );
  }
  const promised = node.children.reduce((sum, child) => sum + ratesOf(child, side).limitAt, 0);
  // A root has no parent with a guarantee, so that its maximum is the most that it can guarantee.
  const [own, property] =
    node.parent === undefined
      ? [rates.maxLimit > 0 ? rates.maxLimit : Number.POSITIVE_INFINITY, 'max-limit']
      : [rates.limitAt, 'limit-at'];
  if (promised > own) {
    findings.push(
      found(
        'limit-at-over-parent',
        property,
        `its children have ${word}${prefix}limit-at of ${rateText(promised)} together, over its own ${prefix}${property} of ` +
          `${rateText(own)}; they take it from others or do not get it`,
      ),
    );
  }
  return findings;
}

function ceilings(node: QueueNode, side: Side, rates: Rates, found: Found): QueueFinding[] {
  const findings: QueueFinding[] = [];
  const { prefix, word } = side;
  // Without a parent limit-at has no effect, which is a separate finding.
  if (node.parent !== undefined && rates.maxLimit > 0 && rates.maxLimit < rates.limitAt) {
    findings.push(
      found(
        'max-limit-below-limit-at',
        'max-limit',
        `${word}${prefix}max-limit ${rateText(rates.maxLimit)} is below ${prefix}limit-at ${rateText(rates.limitAt)}, which ` +
          'is given all the same',
      ),
    );
  }
  const above = node.parent === undefined ? 0 : ratesOf(node.parent, side).maxLimit;
  if (above > 0 && rates.maxLimit > above) {
    findings.push(
      found(
        'max-limit-over-parent',
        'max-limit',
        `${word}${prefix}max-limit ${rateText(rates.maxLimit)} is over ${rateText(above)} of its parent ${node.parent?.name}, ` +
          'which it cannot exceed for longer than a bucket lasts',
      ),
    );
  }
  return findings;
}

function priorities(node: QueueNode, { word, prefix }: Side, rates: Rates, found: Found): QueueFinding[] {
  if (rates.priority === LOWEST_PRIORITY) return [];
  const why =
    node.children.length > 0
      ? 'on a queue with children; give it to them'
      : node.parent === undefined
        ? 'without a parent to share the rate of'
        : undefined;
  return why === undefined
    ? []
    : [found('priority-without-effect', 'priority', `${word}${prefix}priority ${rates.priority} has no effect ${why}`)];
}

function bursts({ word, prefix }: Side, rates: Rates, found: Found): QueueFinding[] {
  if (rates.burstLimit === 0) return [];
  const why =
    rates.maxLimit === 0
      ? `without ${prefix}max-limit`
      : rates.burstLimit <= rates.maxLimit
        ? `as it is not over ${prefix}max-limit, ${rateText(rates.maxLimit)}`
        : rates.burstMs === 0
          ? `without ${prefix}burst-time`
          : rates.burstThreshold === 0
            ? `without ${prefix}burst-threshold`
            : undefined;
  return why === undefined
    ? []
    : [
        found(
          'burst-without-effect',
          'burst-limit',
          `${word}${prefix}burst-limit ${rateText(rates.burstLimit)} has no effect ${why}`,
        ),
      ];
}

/** Cached rates by row: an unchanged row is the same object in the next configuration. */
const known = new WeakMap<Row, ReadonlyMap<Side, Rates>>();

/** Rates of a queue; parsed once. */
function ratesOf(node: QueueNode, side: Side): Rates {
  let sides = known.get(node.row);
  if (sides === undefined) {
    sides = new Map(SIDES[node.menu].map((each) => [each, readRates(node, each)]));
    known.set(node.row, sides);
  }
  return sides.get(side) ?? NONE;
}

const NONE: Rates = {
  limitAt: 0,
  maxLimit: 0,
  burstLimit: 0,
  burstThreshold: 0,
  burstMs: 0,
  priority: LOWEST_PRIORITY,
};

/** Parses the rates of a row. Absent rates are 0, and an absent priority is the lowest one. */
function readRates({ row: { values } }: QueueNode, { prefix, half }: Side): Rates {
  const text = (name: string): string | undefined => {
    const value = values[`${prefix}${name}`];
    return half === undefined || value === undefined ? value : value.split('/')[half];
  };
  const number = (name: string, absent: number): number => Number(text(name) ?? absent);
  const burstTime = text('burst-time');
  return {
    limitAt: number('limit-at', 0),
    maxLimit: number('max-limit', 0),
    burstLimit: number('burst-limit', 0),
    burstThreshold: number('burst-threshold', 0),
    burstMs: burstTime === undefined ? 0 : (durationMs(burstTime) ?? 0),
    priority: number('priority', LOWEST_PRIORITY),
  };
}
