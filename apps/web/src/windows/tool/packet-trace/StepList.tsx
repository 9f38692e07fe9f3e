/** Steps of a packet through the stages, with links to the rules that decided. */
import type { PacketTrace, TracedRow } from '@tollway/protocol/live/trace';
import { Fragment } from 'react';
import { useLinks } from '../../open-window.ts';
import { outcomeText, pathText } from './kept-packets.ts';

export function StepList({ packet }: { readonly packet: PacketTrace }) {
  const follow = useLinks();
  // The last stage, which dropped the packet, may be out of view on a small screen.
  const decided =
    packet.outcome === 'dropped' ? packet.steps.at(-1)?.rows.findLast(({ effect }) => effect === undefined) : undefined;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link clicks it
    <section className="trace-steps" aria-label="Steps" tabIndex={0} onClick={follow}>
      <h3 className={packet.outcome === 'dropped' ? 'trace-dropped' : undefined}>
        {packet.protocol} {packet.src} → {packet.dst}: {outcomeText(packet)}
      </h3>
      <p className="trace-path">
        Path: {pathText(packet)}
        {decided !== undefined && (
          <>
            . Decided by <RowLink row={decided} />
          </>
        )}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col">Decision</th>
            <th scope="col">By</th>
          </tr>
        </thead>
        <tbody>
          {packet.steps.map((step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a packet never change
            <tr key={at}>
              <th scope="row">{step.stage}</th>
              <td>{step.decision}</td>
              <td>
                {step.rows.map((row, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above; a rule may be met twice
                  <Fragment key={place}>
                    {place > 0 && <br />}
                    {row.effect !== undefined && `${row.effect} `}
                    <RowLink row={row} />
                  </Fragment>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function RowLink({ row: { id, menu, label } }: { readonly row: TracedRow }) {
  return menu === undefined ? <span>{`${label} ${id}`}</span> : <a href={`${menu}/${id}`}>{label}</a>;
}
