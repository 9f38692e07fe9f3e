// @ts-check
/**
 * The lab: four hosts around the router, each a network namespace.
 *
 * ```
 *  lan  192.168.88.10, .20 ──┐ ether2
 *                            router ether1 ── 203.0.113.1 wan 198.51.100.1 ── 198.51.100.10 server
 *  lan2 192.168.89.10, .20 ──┘ ether3
 * ```
 * IPv6 beside it: 2001:db8:88::/64 and 2001:db8:89::/64 behind ether2 and ether3, 2001:db8:203::/64 between ether1 and wan,
 * 2001:db8:198::/64 between wan and server (RFC 3849). It is not translated: wan has routes to the networks behind the router.
 *
 * The addresses .20 are subscribers, to whom the default configuration of the lab gives a queue each.
 * Addresses of wan and server are documentation networks (RFC 5737). wan has no route to 192.168.0.0/16, so
 * only what the router masquerades gets an answer from beyond it.
 */

/**
 * @typedef {{ name: string, netns: string, addresses: string[], more?: string[], gateway?: string, ipv6: HostIpv6, routerPort?: string, about: string }} LabHost
 *   `addresses`: one for each of eth0, eth1 …; `more`: further ones of eth0
 * @typedef {{ addresses: string[], gateway?: string, routes?: readonly { to: string, via: string }[] }} HostIpv6
 * @typedef {{ portsNetns: string, ports: string[], hosts: LabHost[] }} Lab
 */

/** Port of the iperf3 server on `server`. */
export const IPERF_PORT = 5201;

/** Port on which `server` takes the UDP stream of lan2. */
export const STREAM_PORT = 5004;

/** Address of `server`. */
export const SERVER_ADDRESS = '198.51.100.10';
const SERVER_IPV6_ADDRESS = '2001:db8:198::10';

/** Address of the router on ether1 in the default configuration of the lab, of IPv6. */
const ROUTER_WAN_IPV6_ADDRESS = '2001:db8:203::2';

/** Subscribers with a queue: a laptop on lan and a television on lan2. */
export const LAPTOP_ADDRESS = '192.168.88.20';
export const TV_ADDRESS = '192.168.89.20';

/** Address of the router on ether1 in the default configuration of the lab. */
export const ROUTER_WAN_ADDRESS = '203.0.113.2';

/**
 * @param {string} routerNetns name of the router's namespace; the lab's names start with it
 * @returns {Lab}
 */
export function labOf(routerNetns) {
  return {
    portsNetns: `${routerNetns}-ports`,
    ports: ['ether1', 'ether2', 'ether3'],
    hosts: [
      {
        name: 'lan',
        netns: `${routerNetns}-lan`,
        addresses: ['192.168.88.10/24'],
        more: [`${LAPTOP_ADDRESS}/24`],
        gateway: '192.168.88.1',
        ipv6: { addresses: ['2001:db8:88::10/64'], gateway: '2001:db8:88::1' },
        routerPort: 'ether2',
        about: 'a client, with web requests and DNS queries to server; and a laptop that browses',
      },
      {
        name: 'lan2',
        netns: `${routerNetns}-lan2`,
        addresses: ['192.168.89.10/24'],
        more: [`${TV_ADDRESS}/24`],
        gateway: '192.168.89.1',
        ipv6: { addresses: ['2001:db8:89::10/64'], gateway: '2001:db8:89::1' },
        routerPort: 'ether3',
        about: 'a client, with a steady UDP stream to server; and a television that plays films',
      },
      {
        name: 'wan',
        netns: `${routerNetns}-wan`,
        addresses: ['203.0.113.1/24', '198.51.100.1/24'],
        ipv6: {
          addresses: ['2001:db8:203::1/64', '2001:db8:198::1/64'],
          routes: ['2001:db8:88::/64', '2001:db8:89::/64'].map((to) => ({ to, via: ROUTER_WAN_IPV6_ADDRESS })),
        },
        routerPort: 'ether1',
        about: 'the provider; forwards to server, knows no private network, pings the router',
      },
      {
        name: 'server',
        netns: `${routerNetns}-server`,
        addresses: [`${SERVER_ADDRESS}/24`],
        gateway: '198.51.100.1',
        ipv6: { addresses: [`${SERVER_IPV6_ADDRESS}/64`], gateway: '2001:db8:198::1' },
        about: `behind wan; HTTP on 80, DNS on 53, iperf3 on ${IPERF_PORT}`,
      },
    ],
  };
}
