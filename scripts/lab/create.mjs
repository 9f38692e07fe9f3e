// @ts-check
/** Creates and removes the lab's namespaces and links. */
import { addNetns, deleteNetns, inNetns } from '../netns.mjs';
import { run } from '../process.mjs';

/** @param {import('./topology.mjs').Lab} lab */
export function createLab(lab) {
  addNetns(lab.portsNetns);
  for (const host of lab.hosts) addNetns(host.netns);
  // Containers may have switched it off for all namespaces that are made in them.
  const on = ['all', 'default'].map((which) => `net.ipv6.conf.${which}.disable_ipv6=0`);
  for (const host of lab.hosts) inNetns(host.netns, ['sysctl', '-qw', ...on]);
  const wan = named(lab, 'wan');
  const server = named(lab, 'server');
  for (const host of lab.hosts) {
    if (host.routerPort === undefined) continue;
    link(lab.portsNetns, host.routerPort, host.netns, 'eth0');
  }
  link(wan.netns, 'eth1', server.netns, 'eth0');
  for (const host of lab.hosts) {
    host.addresses.forEach((address, index) => {
      run('ip', ['-n', host.netns, 'address', 'add', address, 'dev', `eth${index}`]);
    });
    for (const address of host.more ?? []) run('ip', ['-n', host.netns, 'address', 'add', address, 'dev', 'eth0']);
    host.ipv6.addresses.forEach((address, index) => {
      run('ip', ['-n', host.netns, '-6', 'address', 'add', address, 'dev', `eth${index}`, 'nodad']);
    });
    const { gateway, routes = [] } = host.ipv6;
    const default6 = gateway === undefined ? [] : [{ to: 'default', via: gateway }];
    for (const { to, via } of [...default6, ...routes]) {
      run('ip', ['-n', host.netns, '-6', 'route', 'add', to, 'via', via]);
    }
    if (host.gateway !== undefined) run('ip', ['-n', host.netns, 'route', 'add', 'default', 'via', host.gateway]);
  }
  inNetns(wan.netns, ['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
  // All hosts behind the masquerade are one target for the rate limit: a second traceroute would get no answers.
  for (const host of [wan, server]) inNetns(host.netns, ['sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0']);
}

/** @param {import('./topology.mjs').Lab} lab */
export async function removeLab(lab) {
  await Promise.all([lab.portsNetns, ...lab.hosts.map((host) => host.netns)].map(deleteNetns));
}

/** @param {import('./topology.mjs').Lab} lab @param {string} name */
function named(lab, name) {
  const host = lab.hosts.find((candidate) => candidate.name === name);
  if (host === undefined) throw new Error(`the lab has no host ${name}`);
  return host;
}

/**
 * A veth pair, both ends up.
 * @param {string} netnsA @param {string} a @param {string} netnsB @param {string} b
 */
function link(netnsA, a, netnsB, b) {
  run('ip', ['-n', netnsA, 'link', 'add', a, 'type', 'veth', 'peer', 'name', b, 'netns', netnsB]);
  run('ip', ['-n', netnsA, 'link', 'set', a, 'up']);
  run('ip', ['-n', netnsB, 'link', 'set', b, 'up']);
}
