/** The history of the configuration, newest first: author, time, changed rows, and Undo. */
import type { Revision, RevisionChange } from '@tollway/protocol/revisions';
import { displayBytes, thousands } from '@tollway/schema';
import { useCallback, useEffect, useId, useRef, useState } from 'react';
import { listRevisions, revisionRows } from '../../../api/revisions.ts';
import { useStatus } from '../../../api/status.ts';
import { revert } from '../../../menu/undo.ts';
import { useVisible } from '../../../ui/visibility.ts';
import type { StandaloneWindowProps } from '../../window-props.ts';
import './history.css';
import { messageOf } from '../../../ui/message-of.ts';
import { foundRevisions, timeText, unknownUndo, upTo, whyNotUndone } from './revision-rows.ts';

export default function History({ userGroup }: StandaloneWindowProps) {
  const id = useId();
  const visible = useVisible();
  const newest = useStatus((status) => status.revision);
  const [revisions, setRevisions] = useState<readonly Revision[]>();
  const [problem, setProblem] = useState('');
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<number>();
  const [busy, setBusy] = useState<number>();
  // While the pointer is over the list its rows stay, so that a click applies to the row that the user saw.
  const [held, setHeld] = useState<number>();
  const list = useRef<HTMLDivElement>(null);
  const newestListed = useRef<number>(undefined);
  newestListed.current = revisions?.[0]?.revision;
  // Native events: React reports no leave event when the button under the pointer has been removed.
  useEffect(() => {
    const element = list.current;
    const hold = () => setHeld(newestListed.current);
    const release = () => setHeld(undefined);
    element?.addEventListener('pointerenter', hold);
    element?.addEventListener('pointerleave', release);
    return () => {
      element?.removeEventListener('pointerenter', hold);
      element?.removeEventListener('pointerleave', release);
    };
  }, []);

  const load = useCallback(async () => {
    try {
      setRevisions(await listRevisions());
      setProblem('');
    } catch (error) {
      setProblem(messageOf(error));
    }
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new revision is a reason to ask again
  useEffect(() => {
    if (visible) void load();
  }, [visible, newest, load]);

  async function undo({ revision: number, summary }: Revision) {
    setBusy(number);
    await revert(number, `${summary} (revision ${number})`, 'Undone');
    setBusy(undefined);
    await load();
  }

  const listed = upTo(revisions ?? [], held);
  const newer = (revisions?.length ?? 0) - listed.length;
  const shown = foundRevisions(listed, typed);
  const open = shown.find(({ revision }) => revision === chosen);
  return (
    <div role="group" className="menu-table history" aria-label="History">
      <div className="history-bar">
        <label htmlFor={`${id}-find`}>Find</label>
        <input id={`${id}-find`} type="search" value={typed} onChange={(event) => setTyped(event.target.value)} />
        <span role="status" className={problem === '' ? undefined : 'form-error'}>
          {problem !== ''
            ? problem
            : revisions === undefined
              ? 'Loading'
              : countText(shown.length, listed.length, newer)}
        </span>
      </div>
      <div className="history-list" tabIndex={0} role="region" aria-label="Revisions" ref={list}>
        <table>
          <thead>
            <tr>
              <th scope="col">Revision</th>
              <th scope="col">Time</th>
              <th scope="col">User</th>
              <th scope="col">Via</th>
              <th scope="col">Change</th>
              <th scope="col">Rows</th>
              <th scope="col">Undo</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((revision) => (
              <Line
                key={revision.revision}
                revision={revision}
                why={whyNotUndone(revision, userGroup)}
                open={revision.revision === chosen}
                busy={busy !== undefined}
                onOpen={() => setChosen(revision.revision === chosen ? undefined : revision.revision)}
                onUndo={() => void undo(revision)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {open !== undefined && <Details key={open.revision} revision={open} />}
      <footer className="table-foot">
        The last {thousands('1000')} changes are kept, fewer when their rows take more than{' '}
        {displayBytes(String(64 * 1024 * 1024))}.
      </footer>
    </div>
  );
}

/** `newer`: number of revisions that are added when the pointer leaves the list. */
function countText(shown: number, all: number, newer: number): string {
  const number = (value: number) => thousands(String(value));
  const text = shown === all ? `${number(all)} changes` : `${number(shown)} of ${number(all)} changes`;
  return newer === 0 ? text : `${text}; ${number(newer)} newer when the pointer leaves the list`;
}

interface LineProps {
  readonly revision: Revision;
  readonly why: string;
  readonly open: boolean;
  readonly busy: boolean;
  readonly onOpen: () => void;
  readonly onUndo: () => void;
}

function Line({ revision, why, open, busy, onOpen, onUndo }: LineProps) {
  const { revision: number, author, via, time, summary, rows } = revision;
  return (
    <tr className={open ? 'history-open' : undefined}>
      <td>{number}</td>
      <td>{timeText(time)}</td>
      <td>{author}</td>
      <td>{via}</td>
      <td>
        <button type="button" className="history-what" aria-expanded={open} onClick={onOpen}>
          {summary}
        </button>
      </td>
      <td className="history-number">{thousands(String(rows))}</td>
      <td>
        {why === '' ? (
          <>
            <button
              type="button"
              className="button"
              disabled={busy}
              aria-label={`Undo revision ${number}`}
              onClick={onUndo}
            >
              Undo
            </button>{' '}
            <span className="history-why">{unknownUndo(revision)}</span>
          </>
        ) : (
          <span className="history-why">{why}</span>
        )}
      </td>
    </tr>
  );
}

const ACTIONS: Readonly<Record<string, string>> = {
  add: 'added',
  change: 'changed',
  remove: 'removed',
  move: 'moved',
};

/** Changes of a revision, row by row. */
function Details({ revision }: { readonly revision: Revision }) {
  const [rows, setRows] = useState<readonly RevisionChange[]>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    revisionRows(revision.revision).then(setRows, (error: unknown) => setProblem(messageOf(error)));
  }, [revision.revision]);
  const more = revision.rows - (rows?.length ?? revision.rows);
  return (
    <section className="history-details" aria-label={`Revision ${revision.revision}`} tabIndex={0}>
      {problem !== '' && <p className="form-error">{problem}</p>}
      <ul>
        {rows?.map(({ menu, '.id': id, name, action, text }) => (
          <li key={`${menu} ${id}`}>
            <b>
              {menu} {name === '' ? id : name}
            </b>{' '}
            {action === 'change' || action === 'move' ? text : `${ACTIONS[action] ?? action}${text && `: ${text}`}`}
          </li>
        ))}
      </ul>
      {more > 0 && <p>and {thousands(String(more))} more rows</p>}
    </section>
  );
}
