/** The interfaces and queues with the highest rates; sorted on the server, so that their number does not matter. */
import { displayRate } from '@tollway/schema';
import type { Row } from '../../api/row.ts';
import type { RowsTopic } from '../../api/rows-topic.ts';
import { useLive, writeAll } from '../../ui/use-live.ts';
import { halves, queueLoad } from '../queue/pair.ts';
import { queuedText } from '../queue/QueueWindow.tsx';
import { TOP, topInterfaces, topQueues } from './feeds.ts';
import { fillSlots, type Slot } from './slots.ts';
import { Tile } from './Tile.tsx';

interface TableProps {
  readonly title: string;
  readonly opens: string;
  readonly area: string;
  readonly rows: RowsTopic;
  readonly columns: readonly [string, string, string];
  readonly slot: (row: Row) => Slot;
  readonly empty: string;
  readonly foot?: () => string;
}

function TopTable({ title, opens, area, rows, columns, slot, empty, foot }: TableProps) {
  const root = useLive<HTMLDivElement>(rows.listen, (element) => {
    fillSlots(element, rows.loaded ? rows.rows.slice(0, TOP).map(slot) : [], rows.loaded ? empty : '');
    writeAll(element, { foot: foot?.() ?? '' });
  });
  return (
    <Tile title={title} opens={opens} area={area}>
      <div ref={root} className="slots">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: TOP }, (_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows are places, not things
              <tr key={index} data-slot="" hidden>
                <td>
                  <a href="/">
                    <span data-live="name" />
                  </a>
                </td>
                <td data-live="up" />
                <td data-live="down" />
              </tr>
            ))}
          </tbody>
        </table>
        <p data-live="empty" className="slots-empty" />
        <p data-live="foot" className="slots-foot" />
      </div>
    </Tile>
  );
}

const rateText = (value: string | undefined) => displayRate(value ?? '0');

/** Rate of an interface in both directions, bit/s. */
const carried = (row: Row | undefined) =>
  Number(row?.['tx-bits-per-second'] ?? 0) + Number(row?.['rx-bits-per-second'] ?? 0);

function interfaceSlot(row: Row): Slot {
  const up = row['tx-bits-per-second'];
  const down = row['rx-bits-per-second'];
  const top = carried(topInterfaces.rows[0]);
  return {
    opens: `/interface/${row['.id'] ?? ''}`,
    texts: { name: row.name ?? '', up: rateText(up), down: rateText(down) },
    share: top > 0 ? carried(row) / top : 0,
    tone: row.running === 'false' ? 'down' : '',
  };
}

export function TopInterfaces() {
  return (
    <TopTable
      title="Top interfaces"
      opens="/interface"
      area="interfaces"
      rows={topInterfaces}
      columns={['Name', 'Tx', 'Rx']}
      slot={interfaceSlot}
      empty="The router has no interface."
    />
  );
}

function queueSlot(row: Row): Slot {
  const [up, down] = halves(row.rate);
  return {
    opens: `/queue/simple/${row['.id'] ?? ''}`,
    texts: { name: row.name ?? '', up: rateText(String(up)), down: rateText(String(down)) },
    share: queueLoad(row.rate, row['max-limit']),
  };
}

export function TopQueues() {
  return (
    <TopTable
      title="Top queues"
      opens="/queue/simple"
      area="queues"
      rows={topQueues}
      columns={['Name', 'Upload', 'Download']}
      slot={queueSlot}
      empty="There are no simple queues."
      foot={queuedText}
    />
  );
}
