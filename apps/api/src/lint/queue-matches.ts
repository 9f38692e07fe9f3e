import { parseQueueTarget, type QueueTarget, queueTargetText } from '@tollway/schema';
import { type ConfigSnapshot, type Row, rowsOf } from '../snapshot/snapshot.js';
import type { QueueFinding } from './queue-finding.js';
import type { QueueNode } from './queue-node.js';
import { TargetSet } from './target-set.js';

/**
 * Simple queues that get no packets, or not all packets of their target, or packets that match another queue as well,
 * so that only the order of the queues decides.
 */
export function* matchFindings(
  nodes: readonly QueueNode[],
  snapshot: ConfigSnapshot,
): Generator<undefined, QueueFinding[]> {
  const networks = connectedOf(snapshot);
  const siblings = new Map<QueueNode | undefined, QueueNode[]>();
  for (const node of nodes) {
    const group = siblings.get(node.parent);
    if (group === undefined) siblings.set(node.parent, [node]);
    else group.push(node);
    yield;
  }
  const found: QueueFinding[][] = [];
  for (const group of siblings.values()) {
    found.push(yield* coveredByEarlier(group));
    found.push(yield* betweenSites(group, networks));
    found.push(yield* aboveOthers(group));
    found.push(yield* outsideParent(group));
  }
  return found.flat();
}

const finding = (
  { menu, row, name }: QueueNode,
  kind: QueueFinding['finding'],
  message: string,
  property = 'target',
): QueueFinding => ({ menu, row: row.id, name, property, finding: kind, message });

/** Cached targets by row: an unchanged row is the same object in the next configuration. */
const known = new WeakMap<Row, readonly QueueTarget[]>();

/** Targets of a queue; parsed once. */
function targetsOf(node: QueueNode): readonly QueueTarget[] {
  let targets = known.get(node.row);
  if (targets === undefined) {
    targets = (node.row.values.target ?? '').split(',').flatMap((text) => parseQueueTarget(text) ?? []);
    known.set(node.row, targets);
  }
  return targets;
}

/** Conditions of a queue besides its target, as a text to compare; empty without any. */
const conditionsOf = ({ row: { values } }: QueueNode): string =>
  values.dst === undefined && !values['packet-marks'] && values.time === undefined
    ? ''
    : JSON.stringify([values.dst, values['packet-marks'], values.time]);

/**
 * Queues whose targets are covered by targets of earlier queues. Only earlier queues without other conditions, or with
 * the same ones as the later queue, are considered.
 */
function* coveredByEarlier(group: readonly QueueNode[]): Generator<undefined, QueueFinding[]> {
  const earlier = new Map<string, TargetSet>();
  const found: QueueFinding[] = [];
  for (const node of group) {
    found.push(...coveredFindings(node, earlier));
    yield;
  }
  return found;
}

/** @param earlier targets of earlier queues by their other conditions; the targets of this queue are added */
function coveredFindings(node: QueueNode, earlier: Map<string, TargetSet>): QueueFinding[] {
  const conditions = conditionsOf(node);
  const targets = targetsOf(node);
  const everything = earlier.get('');
  const covering = [everything, earlier.get(conditions)];
  const gone = targets.filter((target) => covering.some((set) => set?.covers(target)));
  const own = earlier.get(conditions) ?? new TargetSet();
  earlier.set(conditions, own);
  for (const target of targets) own.add(target);
  if (gone.length === targets.length) {
    return [finding(node, 'shadowed', 'gets no packets: earlier queues have all of its targets; move it above them')];
  }
  const dst = parseQueueTarget(node.row.values.dst ?? '');
  if (dst !== undefined && everything?.covers(dst)) {
    const text = 'gets no packets: its dst is the target of earlier queues; move it above them';
    return [finding(node, 'shadowed', text, 'dst')];
  }
  if (gone.length === 0) return [];
  const text = `gets no packets of ${gone.map(queueTargetText).join(', ')}: earlier queues have that target too`;
  return [finding(node, 'both-match', text)];
}

const isOpen = (node: QueueNode): boolean => conditionsOf(node) === '';

/** A connected network, which is the same object for every queue. */
type Connected = Exclude<QueueTarget, { readonly interface: string }>;

/** Connected networks of both families, each once. */
function connectedOf(snapshot: ConfigSnapshot): readonly Connected[] {
  const known = new Map<string, Connected>();
  for (const { disabled, values } of [...rowsOf(snapshot, '/ip/address'), ...rowsOf(snapshot, '/ipv6/address')]) {
    const [own = '', length = ''] = (values.address ?? '').split('/');
    const target = parseQueueTarget(`${values.network ?? own}/${length}`);
    if (!disabled && target !== undefined && !('interface' in target)) known.set(queueTargetText(target), target);
  }
  return [...known.values()];
}

/** Whether a target is a single host. */
const isHost = (target: QueueTarget): boolean =>
  !('interface' in target) && target.length === (target.address.includes(':') ? 128 : 32);

/** Connected networks that a queue's targets contain completely. */
function sitesOf(node: QueueNode, networks: readonly Connected[]): ReadonlySet<Connected> {
  const wide = targetsOf(node).filter((target) => !('interface' in target || isHost(target)));
  if (wide.length === 0) return new Set();
  const targets = targetSetOf(wide);
  return new Set(networks.filter((network) => targets.covers(network)));
}

/**
 * Queues whose targets are whole connected networks: traffic from one network to the other matches both queues, and the
 * earlier one takes it. Queues of single hosts are left out, as hosts of one network do not reach each other through the
 * router; so are catch-all queues, whose targets contain the networks of earlier ones.
 */
function* betweenSites(
  group: readonly QueueNode[],
  networks: readonly Connected[],
): Generator<undefined, QueueFinding[]> {
  const holding: { readonly node: QueueNode; readonly sites: ReadonlySet<Connected> }[] = [];
  for (const node of group) {
    const sites = isOpen(node) ? sitesOf(node, networks) : undefined;
    if (sites !== undefined && sites.size > 0) holding.push({ node, sites });
    yield;
  }
  const families = (sites: ReadonlySet<Connected>): boolean[] => [...sites].map(({ address }) => address.includes(':'));
  /** Whether there is traffic between one's sites and the other's, which must be of one family. */
  const apart = (sites: ReadonlySet<Connected>, others: ReadonlySet<Connected>): boolean =>
    [...sites].every((site) => !others.has(site)) && families(sites).some((one) => families(others).includes(one));
  for (const [place, { node, sites }] of holding.entries()) {
    const [first, ...more] = holding.slice(place + 1).filter((other) => apart(sites, other.sites));
    if (first === undefined) continue;
    const those = more.length > 0 ? ` or of ${more.length} more` : '';
    const text = `traffic between its target and that of ${first.node.name}${those} fits both; the earlier queue takes it`;
    // One finding is enough: findings of the other queues would say the same.
    return [finding(node, 'both-match', text)];
  }
  return [];
}

const hasInterface = (node: QueueNode): boolean => targetsOf(node).some((target) => 'interface' in target);

/** Queues of interfaces that come before other queues whose packets may pass the interface, too. */
function* aboveOthers(group: readonly QueueNode[]): Generator<undefined, QueueFinding[]> {
  const open: QueueNode[] = [];
  for (const node of group) {
    if (isOpen(node)) open.push(node);
    yield;
  }
  const found: QueueFinding[] = [];
  for (const [place, node] of open.entries()) {
    yield;
    const below = open.length - 1 - place;
    if (!hasInterface(node) || below === 0) continue;
    const who = below === 1 ? `${open[place + 1]?.name}, which is below it, does` : `${below} queues below it do`;
    const text = `takes all packets that pass its interface: ${who} not get those; move it below them if it is for the rest`;
    found.push(finding(node, 'both-match', text));
  }
  return found;
}

/** Queues whose targets do not overlap with those of their parent, which a packet must match first. */
function* outsideParent(group: readonly QueueNode[]): Generator<undefined, QueueFinding[]> {
  const parent = group[0]?.parent;
  if (parent === undefined || hasInterface(parent)) return [];
  const above = targetsOf(parent);
  const allowed = targetSetOf(above);
  const found: QueueFinding[] = [];
  for (const node of group) {
    yield;
    const targets = targetsOf(node);
    if (hasInterface(node) || targets.some((target) => allowed.covers(target))) continue;
    const own = targetSetOf(targets);
    if (above.some((target) => own.covers(target))) continue;
    const text = `its target is not in that of its parent ${parent.name}: it gets only what passes between the two`;
    found.push(finding(node, 'outside-parent', text));
  }
  return found;
}

function targetSetOf(targets: readonly QueueTarget[]): TargetSet {
  const set = new TargetSet();
  for (const target of targets) set.add(target);
  return set;
}
