/** The packets of a trace; one of them is selected. */
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { clockText, type Kept, lengthText, outcomeHelp, outcomeText, pathText } from './kept-packets.ts';

interface Props {
  readonly packets: readonly Kept[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
}

const COLUMNS = ['Time', 'In', 'Out', 'Protocol', 'Src. Address', 'Dst. Address', 'Length', 'Path', 'Outcome'];

export function PacketList({ packets, selected, onSelect }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  // The newest packet stays in view until the user selects one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when packets come
  useEffect(() => {
    if (selected === undefined) scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [packets]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another one is selected
  useEffect(() => {
    scroller.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);

  function onKeyDown(event: KeyboardEvent) {
    const at = packets.findIndex(({ key }) => key === selected);
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? packets.length - 1 : at - 1,
      Home: 0,
      End: packets.length - 1,
    }[event.key];
    const next = to === undefined ? undefined : packets[to];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next.key);
  }

  return (
    <div ref={scroller} className="trace-scroll">
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: found and read as the lists of the other windows are */}
      <table role="grid" className="trace-list" aria-label="Packets" tabIndex={0} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {COLUMNS.map((title) => (
              <th key={title} scope="col" className={title === 'Length' ? 'cell-right' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {packets.map((packet) => (
            <tr
              key={packet.key}
              aria-selected={packet.key === selected}
              className={packet.outcome === 'dropped' ? 'trace-dropped' : undefined}
              onClick={() => onSelect(packet.key)}
            >
              <td>{clockText(packet.timeMs)}</td>
              <td>{packet.in}</td>
              <td>{packet.out}</td>
              <td>{packet.protocol}</td>
              <td>{packet.src}</td>
              <td>{packet.dst}</td>
              <td className="cell-right">{lengthText(packet)}</td>
              <td>{pathText(packet)}</td>
              <td title={outcomeHelp(packet)}>{outcomeText(packet)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
