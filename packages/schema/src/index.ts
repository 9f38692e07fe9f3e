export { columnValue, type MenuColumn, menuColumn } from './column.js';
export { type Argument, allows, type Command, type Policy, returnsRows } from './command.js';
export { defineMenu } from './define.js';
export { openApi } from './emit/openapi.js';
export { takesLists } from './emit/openapi-parts.js';
export type { AddressSpan, Editor, Kind, PairOf, Parsed } from './kind.js';
export type {
  BuiltinItem,
  Constant,
  Derived,
  Flag,
  Menu,
  Prop,
  ReferenceTarget,
  TabbedWindow,
  WindowSize,
} from './menu.js';
export { FIRST_BUILTIN_ROW, isTree, propOf } from './menu.js';
export { isAdvertisable } from './menus/ipv6/address.js';
export { DEFAULT_INTERFACE_QUEUE } from './menus/queue/interface.js';
export { QUEUE_FINDINGS } from './menus/queue/lint.js';
export { SYSLOG_FACILITIES, SYSLOG_SEVERITIES } from './menus/system/logging/action.js';
export { CONNECTION_STATES, LIST_ACTIONS, TCP_FLAGS } from './mixins/firewall-match.js';
export { NO_MARK, QUEUE_STATISTICS } from './mixins/queue.js';
export { type MenuOutline, menuOutline } from './outline.js';
export { type PacketArguments, packetLine, parsePacketLine } from './packet-line.js';
export { printSwitches, SWITCH_VALUES, VALUED_SWITCHES } from './print-switches.js';
export {
  ADDRESS_BITS,
  type AddressFamily,
  addressNumber,
  addressText,
  type Network,
  networkOf,
  networkText,
} from './props/address-family.js';
export { displayBytes } from './props/bytes.js';
export { missingElement } from './props/comma-list.js';
export { datetimeText, storedDatetime } from './props/datetime.js';
export { displayDuration, durationMs, durationText } from './props/duration.js';
export { durationUs } from './props/fine-duration.js';
export { parseHopLimit } from './props/hop-limit-match.js';
export { parseIcmpOptions } from './props/icmp-options.js';
export { thousands } from './props/int.js';
export { type IntRange, parseIntRange } from './props/int-range.js';
export { ipv4, ipv4Mask, ipv4Network, ipv4Prefix, ipv4Text } from './props/ip.js';
export { hasPorts, IP_PROTOCOL, protocolNumber, protocolText } from './props/ip-protocol.js';
export { ipv4Range } from './props/ip-range.js';
export { ipv6, ipv6Prefix, ipv6Text, isLinkLocal } from './props/ipv6.js';
export { ipv6Range } from './props/ipv6-range.js';
export { parseLimit } from './props/limit.js';
export { type Nexthop, parseNexthop, parseNexthops } from './props/nexthop.js';
export { splitNot } from './props/not.js';
export { parseNth } from './props/nth.js';
export { portRanges } from './props/port-list.js';
export { parseQueueTarget, type QueueTarget, queueTargetText } from './props/queue-target.js';
export { quoted } from './props/quoted.js';
export { displayRate } from './props/rate.js';
export { TOPICS } from './props/topics.js';
export { parseVolumeRange } from './props/volume-range.js';
export { parseWeekdayTimes, WEEKDAYS } from './props/weekday-times.js';
export { menuByPath, registry } from './registry.js';
export { compareTexts, compareValues, displayValue, editValue } from './values.js';
