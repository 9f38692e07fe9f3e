/** Import of subscribers from a pasted list: a dry run shows the changes, and Apply makes them in one revision. */
import type { ImportReport } from '@tollway/protocol/queue-import';
import { displayBytes, thousands } from '@tollway/schema';
import { useId, useRef, useState } from 'react';
import { importQueues, undoImport } from '../../../../api/queue-import.ts';
import { notifyChange, revert, trackChange, useIsUndoable } from '../../../../menu/undo.ts';
import type { StandaloneWindowProps } from '../../../window-props.ts';
import { fileText, MAX_BYTES } from './file-text.ts';
import { ImportList } from './ImportList.tsx';
import {
  ACTION_TITLES,
  countsOf,
  importNews,
  isApplicable,
  reportText,
  type Show,
  shownLines,
  withHintsOf,
} from './report-text.ts';
import './import.css';
import { FormError } from '../../../../ui/FormError.tsx';
import { messageOf } from '../../../../ui/message-of.ts';

const EXAMPLE = 'name,target,upload,download\nalice,192.168.88.10,20M,100M\nbob,192.168.88.11,5M,20M';

export default function ImportWindow({ allowed }: StandaloneWindowProps) {
  // A user who loses the permission keeps the input.
  const [begun] = useState(allowed);
  return allowed || begun ? (
    <ImportForm allowed={allowed} />
  ) : (
    <p className="form-note">Your group may not add queues.</p>
  );
}

/** `allowed`: whether the user may add queues; input is kept when this changes. */
function ImportForm({ allowed }: { readonly allowed: boolean }) {
  const id = useId();
  const file = useRef<HTMLInputElement>(null);
  const [csv, setCsv] = useState('');
  /** The list that was last imported. */
  const [applied, setApplied] = useState('');
  const [remove, setRemove] = useState(false);
  const [report, setReport] = useState<ImportReport>();
  const [problem, setProblem] = useState('');
  /**
   * True while the router processes the list. The list cannot be edited meanwhile, so that the applied list is the
   * reported one.
   */
  const [busy, setBusy] = useState(false);
  const [show, setShow] = useState<Show>('all');
  /** Result of the last import. */
  const [made, setMade] = useState<{ readonly revision: number; readonly text: string }>();
  const undoable = useIsUndoable(made?.revision);

  function forget() {
    setReport(undefined);
    setProblem('');
  }

  async function read(chosen: File) {
    if (chosen.size > MAX_BYTES) {
      setProblem(`${chosen.name} is larger than ${displayBytes(String(MAX_BYTES))}.`);
      return;
    }
    setBusy(true);
    try {
      setCsv(fileText(new Uint8Array(await chosen.arrayBuffer())));
    } catch (error) {
      setProblem(`${chosen.name} could not be read: ${messageOf(error)}`);
    } finally {
      setBusy(false);
    }
  }

  /** Requests a dry run, or imports the list. */
  async function run(what: 'dry-run' | 'apply') {
    setBusy(true);
    setProblem('');
    try {
      const dryRun = what === 'dry-run';
      const sent = importQueues(csv, { dryRun, remove, digest: dryRun ? undefined : report?.digest });
      const done = await (dryRun ? sent : trackChange('Import subscribers', sent));
      // Hints of the dry run still apply.
      setReport(dryRun ? done : withHintsOf(done, report));
      if (done.revision !== undefined) {
        const text = importNews(done);
        setMade({ revision: done.revision, text });
        setApplied(csv);
        notifyChange(text, done.revision);
      }
      setShow('all');
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
    }
  }

  /** Undoes the last import, and shows the result for each queue. */
  async function undo() {
    if (made === undefined) return;
    setBusy(true);
    setProblem('');
    let undone: ImportReport | undefined;
    const done = await revert(made.revision, made.text, 'Undone', async (revision) => {
      undone = await undoImport(revision);
      return undone.revision;
    });
    // After a failure the reason is shown in a message that stays.
    if (done) setReport(undone);
    setShow('all');
    setBusy(false);
  }

  const ready = report !== undefined && isApplicable(report);
  return (
    <div role="group" className="menu-table import" aria-label="Import Subscribers">
      <div className="import-form">
        <label htmlFor={`${id}-csv`}>
          A line for each subscriber: <code>name, target, upload, download</code>, then where there are bursts{' '}
          <code>burst upload, burst download, burst-threshold, burst-time</code>. A first line of titles may name other
          settings, as <code>parent</code> or <code>comment</code>.
        </label>
        <textarea
          id={`${id}-csv`}
          spellCheck={false}
          wrap="off"
          placeholder={EXAMPLE}
          value={csv}
          readOnly={busy}
          data-unsaved={(csv.trim() !== '' && csv !== applied) || undefined}
          onChange={(event) => {
            setCsv(event.target.value);
            forget();
          }}
        />
        <div className="import-buttons">
          <button type="button" className="button" disabled={busy} onClick={() => file.current?.click()}>
            Open File
          </button>
          <input
            ref={file}
            type="file"
            accept=".csv,.txt,text/csv,text/plain"
            hidden
            aria-label="File with subscribers"
            onChange={(event) => {
              const [chosen] = event.target.files ?? [];
              event.target.value = '';
              forget();
              if (chosen !== undefined) void read(chosen);
            }}
          />
          <label className="check">
            <input
              type="checkbox"
              checked={remove}
              disabled={busy}
              onChange={(event) => {
                setRemove(event.target.checked);
                forget();
              }}
            />
            Remove queues that the list does not name
          </label>
          <span className="import-run">
            <button
              type="button"
              className="button"
              disabled={busy || !allowed || csv.trim() === ''}
              onClick={() => void run('dry-run')}
            >
              Dry Run
            </button>
            <button
              type="button"
              className="button button-primary"
              disabled={busy || !allowed || !ready}
              title={ready ? undefined : 'first a dry run without errors'}
              onClick={() => void run('apply')}
            >
              Apply
            </button>
          </span>
        </div>
      </div>
      {!allowed && <FormError>Your group may not add queues now. What is typed here stays.</FormError>}
      <div className="import-report">
        <p className={problem === '' ? undefined : 'form-error'} role="status">
          {busy
            ? 'The router reads the list.'
            : problem !== ''
              ? problem
              : report === undefined
                ? ''
                : reportText(report)}
        </p>
        {made !== undefined && undoable && (
          <button
            type="button"
            className="button"
            disabled={busy}
            title="Makes the queues of the list what they were before it, in one revision"
            onClick={() => void undo()}
          >
            Undo revision {made.revision}
          </button>
        )}
      </div>
      {report !== undefined && <Parts report={report} show={show} onShow={setShow} />}
      <ImportList lines={report === undefined ? [] : shownLines(report.lines, show)} />
    </div>
  );
}

interface PartsProps {
  readonly report: ImportReport;
  readonly show: Show;
  readonly onShow: (show: Show) => void;
}

/** Selection of the lines of the report. */
function Parts({ report, show, onShow }: PartsProps) {
  const counts = countsOf(report.lines);
  const parts: readonly (readonly [Show, string, number])[] = [
    ['all', 'All', report.lines.length],
    ['error', ACTION_TITLES.error, counts.error],
    ['add', ACTION_TITLES.add, counts.add],
    ['change', ACTION_TITLES.change, counts.change],
    ['remove', ACTION_TITLES.remove, counts.remove],
    ['same', ACTION_TITLES.same, counts.same],
    ['hints', 'With a hint', counts.hints],
  ];
  return (
    <div role="group" className="import-parts" aria-label="Show">
      {parts.map(([part, label, count]) => (
        <button
          key={part}
          type="button"
          className="tool tool-text"
          aria-pressed={part === show}
          disabled={count === 0 && part !== 'all'}
          onClick={() => onShow(part)}
        >
          {label} {thousands(String(count))}
        </button>
      ))}
    </div>
  );
}
