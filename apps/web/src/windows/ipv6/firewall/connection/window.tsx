/** The live table of connections of IPv6, as that of IPv4. */
import ConnectionsWindow from '../../../ip/firewall/connection/window.tsx';
import type { MenuWindowProps } from '../../../window-props.ts';

export default function Ipv6ConnectionsWindow(props: MenuWindowProps) {
  return <ConnectionsWindow {...props} />;
}
