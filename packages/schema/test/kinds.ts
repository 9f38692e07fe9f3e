import type { Kind } from '../src/kind.js';
import { anyNetwork } from '../src/props/any-network.js';
import { bool, present } from '../src/props/bool.js';
import { bytes, bytesUpTo } from '../src/props/bytes.js';
import { wordList } from '../src/props/comma-list.js';
import { counter } from '../src/props/counter.js';
import { datetime } from '../src/props/datetime.js';
import { decimal } from '../src/props/decimal.js';
import { duration } from '../src/props/duration.js';
import { oneOf, oneOfWithYesNo } from '../src/props/enum.js';
import { fineDuration } from '../src/props/fine-duration.js';
import { hexMask } from '../src/props/hex-mask.js';
import { hopLimitMatch } from '../src/props/hop-limit-match.js';
import { icmpOptions } from '../src/props/icmp-options.js';
import { int } from '../src/props/int.js';
import { intRange } from '../src/props/int-range.js';
import { ip, ipPort } from '../src/props/ip.js';
import { ipAny } from '../src/props/ip-any.js';
import { ipIfacePrefix, ipPrefix } from '../src/props/ip-prefix.js';
import { ipProtocol } from '../src/props/ip-protocol.js';
import { ipRange, ipRangeExact } from '../src/props/ip-range.js';
import { ipv6Address, ipv6InterfacePrefix, ipv6Network } from '../src/props/ipv6-address.js';
import { ipv6Port } from '../src/props/ipv6-port.js';
import { ipv6AddressRange, ipv6RangeExact } from '../src/props/ipv6-range.js';
import { kibibytes } from '../src/props/kibibytes.js';
import { limit } from '../src/props/limit.js';
import { mac } from '../src/props/mac.js';
import { nexthopList } from '../src/props/nexthop.js';
import { withNot } from '../src/props/not.js';
import { nth } from '../src/props/nth.js';
import { upDown } from '../src/props/pair.js';
import { percent } from '../src/props/percent.js';
import { portList } from '../src/props/port-list.js';
import { prefixAny } from '../src/props/prefix-any.js';
import { queueTarget, queueTargetList } from '../src/props/queue-target.js';
import { configuredRate, rate } from '../src/props/rate.js';
import { reference, referenceList } from '../src/props/reference.js';
import { setOf, triStateSetOf } from '../src/props/set.js';
import { tableName } from '../src/props/table-name.js';
import { fileName, interfaceName, name, nameInPair, nameList, secret, text } from '../src/props/text.js';
import { topicsWanted } from '../src/props/topics.js';
import { volumeRange } from '../src/props/volume-range.js';
import { weekdayTimes } from '../src/props/weekday-times.js';

/** One of every kind of value, for tests over all of them. */
export const kinds: Readonly<Record<string, Kind>> = {
  bool,
  present,
  bytes,
  bytesUpTo: bytesUpTo(1 << 20),
  hexMask,
  counter: counter('packets'),
  datetime,
  duration: duration({ keywords: ['auto'] }),
  enum: oneOf(['accept', 'drop']),
  yesNoEnum: oneOfWithYesNo(['no', 'strict', 'loose']),
  icmpOptions,
  int: int({ min: -5, max: 255, keywords: ['auto'] }),
  intRange: intRange({ min: 0, max: 65_535 }),
  ip,
  ipPort,
  ipv6Port,
  prefixAny,
  ipAny,
  anyNetwork,
  tableName,
  ipIfacePrefix,
  ipPrefix,
  ipProtocol,
  ipRange,
  ipRangeExact,
  ipv6Address,
  ipv6InterfacePrefix,
  ipv6Network,
  ipv6AddressRange,
  ipv6RangeExact,
  hopLimitMatch,
  limit,
  mac,
  nexthop: nexthopList('ip'),
  nexthop6: nexthopList('ipv6'),
  nth,
  percent,
  portList,
  rate,
  ratePair: upDown(rate),
  configuredRate,
  queueTarget,
  queueTargetList,
  decimal: decimal({ min: 0, max: 10 }),
  kibibytes,
  fineDuration: fineDuration(),
  nameList: nameList(),
  spelledSet: setOf(['conservative', 'raw'], { empty: true, spelled: { convervative: 'conservative' } }),
  nameInPair,
  reference: reference('/interface', 'name', { keywords: ['all-ethernet'] }),
  referenceList: referenceList('/interface/list', 'name'),
  set: setOf(['new', 'established', 'related']),
  triStateSet: triStateSetOf(['syn', 'ack', 'rst']),
  fileName,
  interfaceName,
  name: name(),
  secret: secret(),
  text: text(),
  topicsWanted,
  volumeRange,
  weekdayTimes,
  wordList: wordList('a name', 'names'),
  loggedText: text({ controls: true }),
  shortDuration: duration({ maxMs: 60_000, tooLong: 'longer than a minute' }),
  notLimit: withNot(limit),
  notTimes: withNot(weekdayTimes),
  notRange: withNot(ipRange),
  notProtocol: withNot(ipProtocol),
  notSet: withNot(setOf(['new', 'invalid'])),
  notPorts: withNot(portList),
};
