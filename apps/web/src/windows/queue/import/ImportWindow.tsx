/** Subscribers pasted as a list: a dry run shows what it would change, Apply does it in one revision. */
import { displayBytes, thousands } from '@tollway/schema';
import { useId, useRef, useState } from 'react';
import { type ImportReport, importQueues, undoImport } from '../../../api/queue-import.ts';
import { fileText, MOST_BYTES } from './file-text.ts';
import { ImportList } from './ImportList.tsx';
import {
  ACTION_TITLES,
  countsOf,
  isApplicable,
  reportText,
  type Show,
  shownLines,
  withHintsOf,
} from './import-words.ts';
import './import.css';

const EXAMPLE = 'name,target,upload,download\nalice,192.168.88.10,20M,100M\nbob,192.168.88.11,5M,20M';

export function ImportWindow() {
  const id = useId();
  const file = useRef<HTMLInputElement>(null);
  const [csv, setCsv] = useState('');
  const [remove, setRemove] = useState(false);
  const [report, setReport] = useState<ImportReport>();
  const [problem, setProblem] = useState('');
  /** While the router reads the list it stays as it is, so that what is applied is what was told of. */
  const [busy, setBusy] = useState(false);
  const [show, setShow] = useState<Show>('all');
  /** Revision that the last list made, while it can be taken back. */
  const [undo, setUndo] = useState<number>();

  function forget() {
    setReport(undefined);
    setProblem('');
  }

  async function read(chosen: File) {
    if (chosen.size > MOST_BYTES) {
      setProblem(`${chosen.name} is larger than ${displayBytes(String(MOST_BYTES))}.`);
      return;
    }
    setBusy(true);
    try {
      setCsv(fileText(new Uint8Array(await chosen.arrayBuffer())));
    } catch (error) {
      setProblem(`${chosen.name} could not be read: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      setBusy(false);
    }
  }

  /** Puts the list in, or takes back what the last one did. */
  async function run(what: 'dry-run' | 'apply' | 'undo') {
    setBusy(true);
    setProblem('');
    try {
      if (what === 'undo') {
        if (undo === undefined) return;
        setReport(await undoImport(undo));
        setUndo(undefined);
      } else {
        const dryRun = what === 'dry-run';
        const done = await importQueues(csv, { dryRun, remove, digest: dryRun ? undefined : report?.digest });
        // What was a hint before it was done still is one.
        setReport(dryRun ? done : withHintsOf(done, report));
        if (what === 'apply') setUndo(done.revision);
      }
      setShow('all');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
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
              disabled={busy || csv.trim() === ''}
              onClick={() => void run('dry-run')}
            >
              Dry Run
            </button>
            <button
              type="button"
              className="button button-primary"
              disabled={busy || !ready}
              title={ready ? undefined : 'first a dry run without errors'}
              onClick={() => void run('apply')}
            >
              Apply
            </button>
          </span>
        </div>
      </div>
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
        {undo !== undefined && (
          <button
            type="button"
            className="button"
            disabled={busy}
            title="Makes the queues of the list what they were before it, in one revision"
            onClick={() => void run('undo')}
          >
            Undo revision {undo}
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

/** Which part of the report is shown. */
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
