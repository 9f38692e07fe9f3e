import { parseQueueTarget, type QueueTarget } from '@tollway/schema';
import { Targets } from './covered.js';
import type { QueueFinding, QueueNode } from './queues.js';

/** Simple queues that get no packets, or packets that could as well be another one's. */
export function matchFindings(nodes: readonly QueueNode[]): QueueFinding[] {
  const siblings = new Map<QueueNode | undefined, QueueNode[]>();
  for (const node of nodes) {
    const group = siblings.get(node.parent);
    if (group === undefined) siblings.set(node.parent, [node]);
    else group.push(node);
  }
  return [...siblings.values()].flatMap((group) => [...shadowed(group), ...ambiguous(group)]);
}

const finding = ({ menu, row, name }: QueueNode, kind: QueueFinding['finding'], message: string): QueueFinding => ({
  menu,
  row: row.id,
  name,
  property: 'target',
  finding: kind,
  message,
});

const known = new WeakMap<QueueNode, readonly QueueTarget[]>();

/** Targets of a queue; read once. */
function targetsOf(node: QueueNode): readonly QueueTarget[] {
  let targets = known.get(node);
  if (targets === undefined) {
    targets = (node.row.values.target ?? '').split(',').flatMap((text) => parseQueueTarget(text) ?? []);
    known.set(node, targets);
  }
  return targets;
}

/** What beside its target a packet must have; empty when nothing. */
const conditionsOf = ({ row: { values } }: QueueNode): string =>
  values.dst === undefined && !values['packet-marks'] && values.time === undefined
    ? ''
    : JSON.stringify([values.dst, values['packet-marks'], values.time]);

/**
 * Queues whose targets all are in targets of earlier ones. Those count that ask for nothing else, and those that ask
 * for the same as the later one.
 */
function shadowed(group: readonly QueueNode[]): QueueFinding[] {
  const earlier = new Map<string, Targets>();
  return group.flatMap((node) => {
    const conditions = conditionsOf(node);
    const targets = targetsOf(node);
    const covering = [earlier.get(''), earlier.get(conditions)];
    const covered = targets.every((target) => covering.some((set) => set?.covers(target)));
    const own = earlier.get(conditions) ?? new Targets();
    earlier.set(conditions, own);
    for (const target of targets) own.add(target);
    if (!covered) return [];
    return [finding(node, 'shadowed', 'gets no packets: earlier queues have all of its targets; move it above them')];
  });
}

const hasInterface = (node: QueueNode): boolean => targetsOf(node).some((target) => 'interface' in target);

/** Queues where the source of a packet may be in a target of one and its destination in a target of another. */
function ambiguous(group: readonly QueueNode[]): QueueFinding[] {
  const open = group.filter((node) => conditionsOf(node) === '');
  const byAddress = open.filter((node) => !hasInterface(node));
  const findings: QueueFinding[] = [];
  const [first, second] = byAddress;
  if (first !== undefined && second !== undefined) {
    findings.push(
      finding(
        first,
        'both-match',
        `what its target sends to that of ${second.name}${byAddress.length > 2 ? ` or of ${byAddress.length - 2} more` : ''} ` +
          'fits both queues; the earlier one in the list takes it, as download if the destination is its target',
      ),
    );
  }
  if (open.length < 2) return findings;
  for (const [place, node] of open.entries()) {
    if (!hasInterface(node)) continue;
    const after = open.length - 1 - place;
    findings.push(
      finding(
        node,
        'both-match',
        `packets through its interface may also fit other queues by their addresses: ${place} above take them first, ` +
          `${after} below do not get them`,
      ),
    );
  }
  return findings;
}
