/** The packet of a trace: as one line, and as fields. Both are kept consistent. */
import type { Menu, PacketArguments } from '@tollway/schema';
import { type FormEvent, type ReactNode, useEffect, useId } from 'react';
import { useOptions } from '../../../api/references.ts';
import { loadOnOpen } from '../../../ui/load-on-open.ts';
import { RunControls } from '../RunControls.tsx';

export interface Wrong {
  readonly property: string | undefined;
  readonly detail: string;
}

interface Props {
  readonly menu: Menu;
  readonly line: string;
  readonly args: PacketArguments;
  readonly wrong: Wrong | undefined;
  readonly running: boolean;
  readonly onLine: (line: string) => void;
  readonly onWord: (name: string, value: string) => void;
  readonly onDryRun: () => void;
  readonly onStart: () => void;
  readonly onStop: () => void;
}

/** Fields in their order, with their widths in characters. */
const FIELDS: readonly (readonly [string, number])[] = [
  ['protocol', 6],
  ['src-address', 18],
  ['src-port', 6],
  ['dst-address', 18],
  ['dst-port', 6],
];

/** A running trace keeps the arguments of its start. */
const LOCKED = 'Stop the trace to change what it follows';

export function TraceForm(props: Props) {
  const { menu, line, args, wrong, running } = props;
  const id = useId();
  const { options, load } = useOptions(menu.props['in-interface']?.kind);
  useEffect(load, [load]);
  const described = (property: string) =>
    wrong?.property === property ? { 'aria-invalid': true, 'aria-describedby': `${id}-wrong` } : {};
  const labelled = (name: string, control: ReactNode) => (
    <div key={name} className="trace-field" title={running ? LOCKED : menu.props[name]?.help}>
      <label htmlFor={`${id}-${name}`}>{menu.props[name]?.label}</label>
      {control}
    </div>
  );
  return (
    <form
      className="trace-form"
      aria-label="Packet to trace"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        props.onDryRun();
      }}
    >
      <div className="trace-line">
        <label className="trace-field trace-field-wide">
          <span>Packet</span>
          <input
            type="text"
            autoComplete="off"
            spellCheck={false}
            disabled={running}
            placeholder="tcp 192.168.88.10:40000 → 1.1.1.1:443 in ether2"
            title={running ? LOCKED : menu.props.packet?.help}
            value={line}
            {...described('packet')}
            onChange={(event) => props.onLine(event.target.value)}
          />
        </label>
        <button
          type="submit"
          className="button button-primary"
          title="What would become of this packet now; nothing is sent"
        >
          Dry Run
        </button>
      </div>
      <div className="trace-line">
        {FIELDS.map(([name, size]) =>
          labelled(
            name,
            <input
              id={`${id}-${name}`}
              type="text"
              autoComplete="off"
              spellCheck={false}
              size={size}
              disabled={running}
              value={args[name] ?? ''}
              {...described(name)}
              onChange={(event) => props.onWord(name, event.target.value)}
            />,
          ),
        )}
        {labelled(
          'in-interface',
          <select
            id={`${id}-in-interface`}
            disabled={running}
            value={args['in-interface'] ?? ''}
            {...described('in-interface')}
            {...loadOnOpen(load)}
            onChange={(event) => props.onWord('in-interface', event.target.value)}
          >
            <option value="">any</option>
            {[...new Set([...options, ...(args['in-interface'] ? [args['in-interface']] : [])])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>,
        )}
      </div>
      <div className="trace-line">
        <RunControls running={running} onStart={props.onStart} onStop={props.onStop}>
          <label className="trace-check">
            <input
              type="checkbox"
              disabled={running}
              checked={args.dropped === 'true'}
              onChange={(event) => props.onWord('dropped', event.target.checked ? 'true' : '')}
            />
            Dropped only
          </label>
        </RunControls>
      </div>
      {wrong !== undefined && (
        <p id={`${id}-wrong`} className="field-error" role="alert">
          {wrong.detail}
        </p>
      )}
    </form>
  );
}
